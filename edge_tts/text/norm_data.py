"""Word lists of the normaliser: acronyms, short words, abbreviations, Chinese contexts."""

from __future__ import annotations

#: Acronyms that people say as a word.
WORD_ACRONYMS = frozenset(
    "SCADA RAM ROM EEPROM EPROM LAN WAN WLAN VLAN SIM PIN NAND NOR RAID LASER RADAR LIDAR "
    "SONAR HART PROFIBUS PROFINET MODBUS MODEM CODESYS KUKA WAGO MOXA HAAS FANUC OMRON "
    "SIMATIC NASA OSHA COVID ASCII SATA NEMA JPEG YAML JSON BIOS CAPTCHA GIF COBOL CAN SLAM "
    "PHASOR VESDA HEPA CRAC".split()
)
#: Acronyms said letter by letter although a word list may hold them as words.
LETTER_ACRONYMS = frozenset(
    "UPS IT US AC DC AI AO DI DO IO ID IP PC PE NO NC CPU GPU PLC DCS HMI MCU FPGA DSP VFD LED LCD "
    "LOTO EMS BMS PCS EV PV AM PM UV IR HV LV MV RF AP SE PT CT VT TV TA TB EKF IMU GPS ATS AVR "
    "ATM ARM SMS MES ERP WMS AGV CNC PID RTU RTD API APP USB UART CAD CAM NAC NAS SSD HDD VPN DNS "
    "URL FAQ OS PDA POS IPC RO RH AHU FCU BAS SIS ESD HIPPS LOPA SIL UPC EPS OEM HVAC IGBT UCMP "
    "RUL MVG SVG STATCOM TROL ACB MCB MCCB RCD RCBO ELCB GIS TSI DEH ETS FSSS MFT OFT ECU OBD ABS "
    "EGR DPF SCR FGD COD BOD TOC DO VOC ORP TDS SS PH LEL PPM RPM IOS DB HI LO CO NOX SOX VOCS "
    "USA UK EU AR VR OT EMI EMC ESC BIT NG TEL FAX DIN ISO IEC GB NTC PTC SPS ASI ETH".split()
) - frozenset(("HI", "LO", "ABS", "STATCOM", "TROL", "BIT"))
#: Words of two and three letters that capitals do not turn into an acronym.
SHORT_WORDS = frozenset(
    "a am an as at be by do for go he hi if in is it lo me my no of off on or so to up we "
    "add age ago aid aim air all and any arc are ask axe bad bag ban bar bay bed bee bin bit box "
    "bus but buy can cap car cat cow cup cut day did die dig dim dip dog dot dry due ear eat egg "
    "end eye fan far fat few fin fit fix fly fog fun gap gas get got gun had has hat her hit hot "
    "how ice ill ink its jam jet job key kit law lay led leg let lid lip log lot low lug man map "
    "mat max may men met mid min mix mud net new nor not now nut odd off oil old one our out own "
    "pad pan par pay pen pin pit pod pop pot put ran raw red rib rid rig rim rod row rub run sad "
    "saw say sea see set she shy sit six sky son spy sum sun tag tan tap tar tax tea ten the tie "
    "tin tip toe too top try tub two use van via vat vet war was wax way web wet who why win "
    "won yes yet you zip ohm".split()
)
#: Short acronyms that are read as the word where a whole line is in capitals.
WORDS_IN_CAPITALS = frozenset(
    "no do it us am arm at as be by me my he we if is an so hi lo".split()
)
#: Capitals that are letters unless the whole line is in capitals.
CAPITALS_AS_LETTERS = frozenset("AT AM AS BE BY ME MY HE WE IF IS DO AN SO US IT LO HI".split())
#: Weekdays written short that can be nothing else.
SURE_WEEKDAYS = frozenset("Mon Tue Tues Wed Thu Thurs Fri".split())

#: Written short form (lower case, no full stop) -> what is said, in English.
ABBREVIATIONS = {
    "dr": "doctor", "mr": "mister", "mrs": "missus", "ms": "miz", "prof": "professor",
    "approx": "approximately", "temp": "temperature", "temps": "temperatures", "max": "maximum",
    "min": "minimum", "vs": "versus", "avg": "average", "std": "standard", "etc": "et cetera",
    "fig": "figure", "figs": "figures", "eq": "equation", "dept": "department",
    "inc": "incorporated",
    "ltd": "limited", "co": "company", "corp": "corporation", "ext": "external", "qty": "quantity",
    "vol": "volume", "msg": "message", "pwr": "power", "mtr": "motor", "vlv": "valve",
    "flt": "fault", "alm": "alarm", "cmd": "command", "err": "error", "assy": "assembly",
    "rev": "revision", "ver": "version", "ch": "channel", "dia": "diameter", "req": "required",
    "freq": "frequency", "volt": "volt", "resp": "response", "sec": "section", "st": "street",
    "ave": "avenue", "mfg": "manufacturing", "ref": "reference", "cont": "continued",
    "incl": "including", "excl": "excluding", "est": "estimated", "tel": "telephone",
    "misc": "miscellaneous", "maint": "maintenance", "diff": "differential", "press": "pressure",
    "cyl": "cylinder", "wk": "week", "sch": "schedule", "div": "division", "lvl": "level",
    "xmtr": "transmitter", "ckt": "circuit", "bkr": "breaker", "sys": "system",
    "suct": "suction", "brg": "bearing", "htg": "heating", "clg": "cooling", "dmpr": "damper",
    "disch": "discharge", "ovld": "overload", "ovrld": "overload", "sply": "supply",
    "rtn": "return",
    "snsr": "sensor", "gnd": "ground", "batt": "battery", "emerg": "emergency", "trbl": "trouble",
    "cntrl": "control", "fdbk": "feedback", "fbk": "feedback", "xfer": "transfer", "hdr": "header",
    "xfmr": "transformer",
    "bldg": "building", "rm": "room", "jan": "January",
    "mar": "March", "feb": "February", "apr": "April", "jun": "June", "jul": "July",
    "aug": "August",
    "sept": "September", "sep": "September", "oct": "October", "nov": "November",
    "dec": "December", "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday",
    "thu": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}  # fmt: skip
#: Those that are never words, so that they are expanded without a full stop too.
ALWAYS_ABBREVIATED = frozenset(
    "dr mr mrs prof approx temp temps max avg vs etc qty msg pwr mtr vlv flt cmd assy freq mfg "
    "dept maint xfmr bldg ext err req alm lvl xmtr ckt bkr sys disch suct brg htg clg dmpr ovld "
    "ovrld sply rtn snsr gnd batt emerg trbl cntrl fdbk fbk xfer hdr".split()
)
TITLES = frozenset("doctor mister missus miz professor".split())

#: Whole tokens with a spelling of their own -> the word that is said.
SPECIAL_TOKENS = {
    "ok": "okay", "wifi": "wifi", "wi-fi": "wifi", "ethercat": "ethercat", "canopen": "canopen",
    "canbus": "can bus", "hi-hi": "high high", "lo-lo": "low low", "hihi": "high high",
    "lolo": "low low", "hi-lo": "high low", "e-mail": "email", "n/a": "N A", "w/o": "without",
    "w/": "with", "and/or": "and or", "24/7": "twenty-four seven", "iot": "I O T",
    "iiot": "I I O T", "i/os": "I Os", "profisafe": "profisafe", "devicenet": "device net",
    "controlnet": "control net", "powerlink": "powerlink", "labview": "labview",
    "nox": "N O X", "sox": "S O X", "ctrl": "control", "github": "github",
    "mysql": "my S Q L", "sqlite": "S Q lite", "postgresql": "postgres Q L",
    "codesys": "codesys", "youtube": "youtube", "nodejs": "node J S", "lipo": "lipo",
    "nimh": "N I M H",
    "poe": "P O E", "li-ion": "lithium ion", "no/nc": "N O N C", "nc/no": "N C N O",
    "hi/lo": "high low", "lora": "lora", "nan": "N A N",
}  # fmt: skip

MONTHS = frozenset(
    "January February March April May June July August September October November December".split()
)
#: Words that keep their capital in the normal form.
PROPER_WORDS = MONTHS | frozenset(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Celsius Fahrenheit".split()
)

#: Chinese characters (simplified and traditional) that count things: two before them is 两.
MEASURES = (
    "个|個|台|臺|只|隻|根|块|塊|套|条|條|件|张|張|片|支(?![路架撑管线])|把|包(?![装裝])|组|組|路|对|對|双|雙|种|種|遍|"
    "圈|匝|转|轉|批|箱|桶|袋|瓶|罐(?![区體体液压温出进入泵满空超高低顶底料内氮氧油水])|辆|輛|架|座|间|間|处|處|位|名|人|家|天|年|倍|米|克|吨|噸|升|"
    "度|伏|安|瓦|帕|巴|分钟|分鐘|小时|小時|秒|周|週|点|點|端|侧|側|面|节|節|页|頁|项|項|份|步|"
    "下|道|盏|扇|孔|代|股|卷|粒|颗|顆|头|頭|岁|歲|元|毛|角|寸|尺|斤|趟|回|场|場|成|刻|"
    "千|万|萬|亿|億|毫米|毫升|毫安|厘米|公里|公斤|平方|立方|兆帕|字节|吨|匹|格|串|"
    "月内|门|門|跳|期望|星期(?![一二三四五六日天])|次(?![侧側回谐諧电電设設接绕繞级級风風])|车(?!间)|杯|盒|盘|盤|排|列"
)
#: Nouns after which digits are a name and not a number.
CODE_NOUNS = (
    "工号|工號|编号|編號|型号|型號|密码|密碼|代码|代碼|端口|卡号|账号|帐号|序列号|批号|批次|单号|"
    "订单|站号|地址|故障码|故障碼|错误码|报警码|报警号|报警代码|代号|识别码|邮编|车牌|尾号|口令|"
    "验证码|条码|条形码|二维码|流水号|机号|件号|图号|货号|料号|物料|房间|分机|学号|证号|"
    "识别号|设备号|位号|工单|寄存器|站点|频道|信道|节点|点位|物料号|程序号|合同号|校验码|"
    "故障号|事件号|消息号|参数号|参数|点号|标签|订单号|资产号|授权码|群号|群|激活码|订单编号"
)
#: Short nouns after which three or more digits are a code.
ALARM_NOUNS = "报警|故障|错误|警告|异常|警报|告警|消息|事件|代码|報警|錯誤|警報"
#: Nouns before a telephone number.
PHONE_NOUNS = (
    "拨打|拨|致电|电话|呼叫|热线|火警|急救|报警电话|手机|联系|内线|短号|总台|撥打|致電|電話|打|总机|"
    "匪警"
)
#: Nouns before which four or more digits name a kind of device.
DEVICE_NOUNS = (
    "板卡|模块|模組|型|系列|卡|芯片|站|柜|房|井|轴承|轴|机型|线|阀组|线路|线切割|网段|端口|系统|室"
)
#: Nouns whose value may carry a minus sign written right after them.
QUANTITY_NOUNS = (
    "温度|溫度|温|偏差|误差|压力|压|值|为|是|到|至|差|量|补偿|设定|低于|高于|于|过|电流|电压|液位|"
    "坐标|位置|约|达|达到|零点|漂移|角度|速度|增益|输出|输入|反馈|给定|位|降|升|在"
)
RATIO_NOUNS = (
    "比例|比|变比|配比|速比|倍率|比值|比分|ratio|Ratio|RATIO|scale|Scale|mixed|gear|Gear|mix"
)
DURATION_NOUNS = (
    "持续|用时|耗时|时长|剩余|运行时间|累计|倒计时|历时|延时|duration|elapsed|uptime|runtime|"
    "remaining|Duration|Elapsed|Uptime|Runtime|Remaining|run time|Run time"
)

GREEK = {
    "α": ("阿尔法", "alpha"), "β": ("贝塔", "beta"), "γ": ("伽马", "gamma"),
    "δ": ("德尔塔", "delta"), "ε": ("艾普西隆", "epsilon"), "ζ": ("泽塔", "zeta"),
    "η": ("伊塔", "eta"), "θ": ("西塔", "theta"), "ι": ("约塔", "iota"), "κ": ("卡帕", "kappa"),
    "λ": ("兰姆达", "lambda"), "μ": ("缪", "mu"), "ν": ("纽", "nu"), "ξ": ("克西", "xi"),
    "ο": ("奥密克戎", "omicron"), "π": ("派", "pi"), "ρ": ("柔", "rho"), "σ": ("西格玛", "sigma"),
    "ς": ("西格玛", "sigma"), "τ": ("陶", "tau"), "υ": ("宇普西隆", "upsilon"),
    "φ": ("斐", "phi"), "χ": ("希", "chi"), "ψ": ("普西", "psi"), "ω": ("欧米伽", "omega"),
}  # fmt: skip

#: Symbols with a reading of their own: (Chinese, English).
SYMBOLS = {
    "<": ("小于", "less than"), ">": ("大于", "greater than"), "=": ("等于", "equals"),
    "≤": ("小于等于", "less than or equal to"), "≥": ("大于等于", "greater than or equal to"),
    "≦": ("小于等于", "less than or equal to"), "≧": ("大于等于", "greater than or equal to"),
    "⩽": ("小于等于", "less than or equal to"), "⩾": ("大于等于", "greater than or equal to"),
    "≠": ("不等于", "not equal to"), "≈": ("约等于", "approximately"),
    "≪": ("远小于", "much less than"),
    "≫": ("远大于", "much greater than"), "±": ("正负", "plus or minus"), "×": ("乘", "times"),
    "÷": ("除以", "divided by"), "+": ("加", "plus"), "&": ("和", "and"), "@": ("艾特", "at"),
    "%": ("百分号", "percent"), "‰": ("千分号", "per mille"), "√": ("根号", "square root of"),
    "∞": ("无穷大", "infinity"), "→": ("到", "to"), "⇒": ("到", "to"), "↑": ("上升", "up"),
    "↓": ("下降", "down"), "←": ("左", "left"), "∑": ("求和", "sum"), "∠": ("角", "angle"),
    "§": ("第", "section"), "°": ("度", "degrees"), "℃": ("摄氏度", "degrees Celsius"),
    "℉": ("华氏度", "degrees Fahrenheit"), "Ω": ("欧姆", "ohms"),
    "∝": ("正比于", "proportional to"),
    "∆": ("德尔塔", "delta"), "¬": ("非", "not"), "⊥": ("垂直于", "perpendicular to"),
    "∥": ("平行于", "parallel to"), "⌀": ("直径", "diameter"), "∅": ("直径", "diameter"),
    "Ø": ("直径", "diameter"), "↔": ("到", "to"), "∽": ("约", "about"),
}  # fmt: skip
CURRENCIES = {
    "¥": ("元", "yuan", "yuan", "fen"), "￥": ("元", "yuan", "yuan", "fen"),
    "$": ("美元", "dollar", "dollars", "cent"), "€": ("欧元", "euro", "euros", "cent"),
    "£": ("英镑", "pound", "pounds", "penny"),
}  # fmt: skip

#: A chemical element, as part of a regular expression.
ELEMENT = (
    "(?:A[cglrstu]|B[aeir]|C[adeflorsu]|D[by]|E[ru]|F[e]|G[ade]|H[efgo]|I[nr]|Kr|L[aiu]|M[gnot]|"
    "N[abdeip]|Os|P[abdrtu]|R[abehnu]|S[bcegimnr]|T[abehilm]|Xe|Yb|Z[nr]|[BCFHIKNOPSUVWY])"
)

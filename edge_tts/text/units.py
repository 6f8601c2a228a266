"""Units of a plant as data: symbols with their names in both languages.

Names follow the SI brochure and GB 3100; American spelling in English.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """How a unit is said.

    ``zh_before`` is said before the number (``百分之``), ``zh`` after it.
    """

    zh: str
    en: str
    en_plural: str
    zh_before: str = ""
    is_temperature: bool = False


_PREFIXES = {
    "k": ("千", "kilo"), "M": ("兆", "mega"), "G": ("吉", "giga"), "T": ("太", "tera"),
    "h": ("百", "hecto"), "d": ("分", "deci"), "c": ("厘", "centi"), "m": ("毫", "milli"),
    "μ": ("微", "micro"), "u": ("微", "micro"), "n": ("纳", "nano"), "p": ("皮", "pico"),
}  # fmt: skip
# symbol, Chinese, English, plural (s: add s, =: the same), SI prefixes that occur.
# An underscore stands for a space, a dot for no symbol of its own.
_BASE = """
m 米 meter s dcmμun
g 克 gram s kmμun
t 吨 ton s k
T 吨 ton s -
s 秒 second s mμunp
h 小时 hour s -
min 分钟 minute s -
d 天 day s -
L 升 liter s dcmμukM
l 升 liter s dcm
V 伏 volt s kMmμun
A 安 amp s kmμun
W 瓦 watt s kMGmμun
VA 伏安 volt_amp s kM
var 乏 var s kM
Ω 欧姆 ohm s kMGmμu
ohm 欧姆 ohm s kM
F 法 farad s mμunp
H 亨 henry s mμun
S 西 siemens = mμun
C 库 coulomb s mμu
J 焦 joule s kMGm
cal 卡 calorie s k
Wh 瓦时 watt_hour s kMGT
Ah 安时 amp_hour s mk
Pa 帕 pascal s kMGhm
bar 巴 bar = m
N 牛 newton s kMm
Hz 赫兹 hertz = kMGTm
K 开 kelvin = m
mol 摩尔 mole s kmμu
lx 勒克斯 lux = k
lm 流明 lumen s k
cd 坎德拉 candela s m
rad 弧度 radian s m
Gy 戈瑞 gray s mμu
Sv 希沃特 sievert s mμu
Bq 贝克勒尔 becquerel s kM
P 泊 poise = c
St 斯 stokes = c
bps 比特每秒 bit_per_second bits_per_second kMGT
bit 比特 bit s kMG
Nm 牛米 newton_meter s k
eV 电子伏 electronvolt s kM
"""
# Exactly these symbols: symbol, Chinese, English, plural.
_FIXED = """
km 公里 kilometer s
℃ 摄氏度 degree_Celsius degrees_Celsius
°C 摄氏度 degree_Celsius degrees_Celsius
degC 摄氏度 degree_Celsius degrees_Celsius
℉ 华氏度 degree_Fahrenheit degrees_Fahrenheit
°F 华氏度 degree_Fahrenheit degrees_Fahrenheit
degF 华氏度 degree_Fahrenheit degrees_Fahrenheit
° 度 degree s
deg 度 degree s
′ 分 minute s
″ 秒 second s
% 百分之 percent =
‰ 千分之 per_mille =
‱ 万分之 per_ten_thousand =
%RH 百分之 percent_relative_humidity =
%LEL 百分之+L_E_L percent_L_E_L =
%VOL 百分之+体积比 percent_by_volume =
pct 百分之 percent =
ppm P_P_M part_per_million parts_per_million
ppb P_P_B part_per_billion parts_per_billion
rpm 转每分钟 revolution_per_minute revolutions_per_minute
rps 转每秒 revolution_per_second revolutions_per_second
rev 转 revolution s
r 转 revolution s
kmh 公里每小时 kilometer_per_hour kilometers_per_hour
kph 公里每小时 kilometer_per_hour kilometers_per_hour
kmph 公里每小时 kilometer_per_hour kilometers_per_hour
mph 英里每小时 mile_per_hour miles_per_hour
fpm 英尺每分钟 foot_per_minute feet_per_minute
cfm 立方英尺每分钟 cubic_foot_per_minute cubic_feet_per_minute
gpm 加仑每分钟 gallon_per_minute gallons_per_minute
lpm 升每分钟 liter_per_minute liters_per_minute
psi P_S_I pound_per_square_inch pounds_per_square_inch
psig P_S_I_G pound_per_square_inch_gauge pounds_per_square_inch_gauge
psia P_S_I_A pound_per_square_inch_absolute pounds_per_square_inch_absolute
barg 巴表压 bar_gauge =
bara 巴绝压 bar_absolute =
atm 大气压 atmosphere s
torr 托 torr =
Torr 托 torr =
mmHg 毫米汞柱 millimeter_of_mercury millimeters_of_mercury
inHg 英寸汞柱 inch_of_mercury inches_of_mercury
mmH2O 毫米水柱 millimeter_of_water millimeters_of_water
cmH2O 厘米水柱 centimeter_of_water centimeters_of_water
mH2O 米水柱 meter_of_water meters_of_water
inH2O 英寸水柱 inch_of_water inches_of_water
kgf 公斤力 kilogram_force kilograms_force
lbf 磅力 pound_force pounds_force
dB 分贝 decibel s
dBA 分贝A decibel_A decibels_A
dBm 分贝毫瓦 decibel_milliwatt decibel_milliwatts
dBi 分贝I decibel_I decibels_I
dBc 分贝C decibel_C decibels_C
dBV 分贝伏 decibel_volt decibel_volts
dBFS 分贝满度 decibel_full_scale decibels_full_scale
lux 勒克斯 lux =
sccm 标准毫升每分钟 S_C_C_M S_C_C_M
slm 标准升每分钟 standard_liter_per_minute standard_liters_per_minute
slpm 标准升每分钟 standard_liter_per_minute standard_liters_per_minute
scfm 标准立方英尺每分钟 standard_cubic_foot_per_minute standard_cubic_feet_per_minute
spm 次每分钟 stroke_per_minute strokes_per_minute
bpm 次每分钟 beat_per_minute beats_per_minute
cpm 次每分钟 count_per_minute counts_per_minute
ppmv P_P_M part_per_million_by_volume parts_per_million_by_volume
wt% 重量百分之 percent_by_weight =
%wt 重量百分之 percent_by_weight =
vol% 体积百分之 percent_by_volume =
mol% 摩尔百分之 mole_percent =
mmWC 毫米水柱 millimeter_of_water millimeters_of_water
mmWG 毫米水柱 millimeter_of_water millimeters_of_water
inWC 英寸水柱 inch_of_water inches_of_water
inWG 英寸水柱 inch_of_water inches_of_water
bbl 桶 barrel s
in 英寸 inch inches
inch 英寸 inch inches
ft 英尺 foot feet
yd 码 yard s
mi 英里 mile s
mil 密耳 mil s
lb 磅 pound s
lbs 磅 pound pounds
oz 盎司 ounce s
gal 加仑 gallon s
kn 节 knot s
ha 公顷 hectare s
cc 毫升 cubic_centimeter s
hr 小时 hour s
hrs 小时 hour hours
mins 分钟 minute minutes
sec 秒 second s
secs 秒 second seconds
hp 马力 horsepower =
BTU B_T_U B_T_U =
TR 冷吨 ton_of_refrigeration tons_of_refrigeration
RT 冷吨 ton_of_refrigeration tons_of_refrigeration
vac 伏交流 volt_A_C volts_A_C
VAC 伏交流 volt_A_C volts_A_C
VDC 伏直流 volt_D_C volts_D_C
Vac 伏交流 volt_A_C volts_A_C
Vdc 伏直流 volt_D_C volts_D_C
Arms 安有效值 amp_R_M_S amps_R_M_S
Vrms 伏有效值 volt_R_M_S volts_R_M_S
Vpp 伏峰峰值 volt_peak_to_peak volts_peak_to_peak
KB 千字节 kilobyte s
kB 千字节 kilobyte s
MB 兆字节 megabyte s
GB 吉字节 gigabyte s
TB 太字节 terabyte s
KiB 千字节 kibibyte s
MiB 兆字节 mebibyte s
GiB 吉字节 gibibyte s
Byte 字节 byte s
byte 字节 byte s
bytes 字节 byte bytes
Mb 兆比特 megabit s
Gb 吉比特 gigabit s
kb 千比特 kilobit s
Baud 波特 baud =
baud 波特 baud =
bd 波特 baud =
px 像素 pixel s
fps 帧每秒 frame_per_second frames_per_second
Gs 高斯 gauss =
mT 毫特斯拉 millitesla =
Nm³ 标准立方米 normal_cubic_meter s
Nm3 标准立方米 normal_cubic_meter s
Sm³ 标准立方米 standard_cubic_meter s
NTU N_T_U N_T_U =
FNU F_N_U F_N_U =
CFU C_F_U C_F_U =
pcs 件 piece s
dpi 点每英寸 dot_per_inch dots_per_inch
g-force G G G
Å 埃 angstrom s
μ 微米 micron s
"""
POWERS = {2: ("平方", "square "), 3: ("立方", "cubic ")}


def _name(text: str) -> str:
    return text.replace("_", " ")


def _atoms() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for line in _BASE.split("\n"):
        if not line:
            continue
        symbol, zh, en, plural, prefixes = line.split() if line.count(" ") == 4 else (
            *line.split(), "-"
        )  # fmt: skip
        many = {"s": f"{en}s", "=": en}.get(plural, plural)
        if en == "henry":
            many = "henries"
        table[symbol] = Unit(zh, _name(en), _name(many))
        for prefix in prefixes.strip("-"):
            zh_prefix, en_prefix = _PREFIXES[prefix]
            table[prefix + symbol] = Unit(
                zh_prefix + zh, _name(en_prefix + en), _name(en_prefix + many)
            )
    for line in _FIXED.split("\n"):
        if not line:
            continue
        symbol, zh, en, plural = line.split()
        many = {"s": f"{en}s", "=": en}.get(plural, plural)
        before, _, after = zh.partition("+")
        if not before.endswith("分之"):
            before, after = "", zh
        table[symbol] = Unit(
            _name(after), _name(en), _name(many), before,
            zh in ("摄氏度", "华氏度"),
        )  # fmt: skip
    # Bare letters that are more often a part of a name than a unit.
    for symbol in ("K", "C", "F", "S", "P", "St", "r", "μ"):
        table[f"/{symbol}"] = table.pop(symbol)
    table["H"] = table["h"]
    for symbol, name in (("kΩ", "kilohm"), ("MΩ", "megohm")):
        table[symbol] = table[symbol.replace("Ω", "ohm")] = Unit(table[symbol].zh, name, f"{name}s")
    return table


UNITS = _atoms()
# Where a folded spelling could be two units, the one met on a plant.
FOLDED_UNITS = {symbol.lower(): unit for symbol, unit in UNITS.items() if len(symbol) > 1} | {
    symbol.lower(): UNITS[symbol]
    for symbol in "MPa mA MW mV MVA kW Hz kHz MHz kV kPa ms Nm mm mL MWh GB Mbps mg μs dB".split()
}

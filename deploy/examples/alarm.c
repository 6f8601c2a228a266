/* Speak an alarm from C.
 *
 *   cc -O2 -Wall -o alarm alarm.c
 *   ./alarm critical 7号罐压力过高
 *
 * Exit status 0 when it was spoken to its end; see `edgetts say --help`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

static int exit_code(const char *line)
{
    if (strncmp(line, "ERR ", 4) == 0)
        return atoi(line + 4);
    if (strstr(line, " outcome=") == NULL)
        return -1; /* not the end yet */
    if (strstr(line, " via=tone") != NULL || strstr(line, " outcome=failed") != NULL)
        return 74;
    if (strstr(line, " outcome=done") != NULL || strstr(line, " outcome=folded") != NULL)
        return 0;
    if (strstr(line, " outcome=expired") != NULL || strstr(line, " outcome=shelved") != NULL)
        return 11;
    return 10;
}

static int send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        data += sent;
        size -= (size_t)sent;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: alarm critical|high|medium|low TEXT\n");
        return 64;
    }
    const char *path = getenv("EDGETTS_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             path != NULL ? path : "/run/edge-tts/edge-tts.sock");

    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "SAY prio=%s wait=finished text=%s\n", argv[1], argv[2]);
    if (length < 0 || length >= (int)sizeof line) {
        fprintf(stderr, "the text is too long for one line\n");
        return 65;
    }
    for (char *c = line; c < line + length - 1; c++) /* one line is one request */
        if (*c == '\n' || *c == '\r')
            *c = ' ';

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send_all(fd, line, (size_t)length) != 0) {
        perror(address.sun_path);
        return 69;
    }
    FILE *answers = fdopen(fd, "r");
    int code = -1;
    while (answers != NULL && code < 0 && fgets(line, sizeof line, answers) != NULL) {
        fputs(line, stdout);
        code = exit_code(line);
    }
    if (answers != NULL)
        fclose(answers);
    return code < 0 ? 69 : code;
}

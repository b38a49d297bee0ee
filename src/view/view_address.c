/*
 * Where others reach a server that listens on all addresses.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "view/view_call.h"

/* The address as text; false for one that nobody else can use as it is. */
static bool read_address(const struct sockaddr *address, char text[VIEW_ADDRESS_SIZE]) {
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        return inet_ntop(AF_INET, &four.sin_addr, text, VIEW_ADDRESS_SIZE) != NULL;
    }
    memcpy(&six, address, sizeof six);
    return !IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) &&
           inet_ntop(AF_INET6, &six.sin6_addr, text, VIEW_ADDRESS_SIZE) != NULL;
}

static bool find_of_family(const struct ifaddrs *all, int family, char text[VIEW_ADDRESS_SIZE]) {
    for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != family ||
            (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        if (read_address(one->ifa_addr, text))
            return true;
    }
    return false;
}

bool view_find_address(bool takes_six, char text[VIEW_ADDRESS_SIZE]) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return false;
    const bool is_found =
        find_of_family(all, AF_INET, text) || (takes_six && find_of_family(all, AF_INET6, text));
    freeifaddrs(all);
    return is_found;
}

#Decides whether this build has Gloo, as MARGAY_GLOO asks for it, \
    and says so : sets MARGAY_WITH_GLOO.
set(MARGAY_WITH_GLOO OFF) if (NOT MARGAY_GLOO MATCHES "^(AUTO|ON|OFF)$") message(
    FATAL_ERROR
    "MARGAY_GLOO is '${MARGAY_GLOO}': say AUTO, ON or OFF") endif() if (MARGAY_GLOO STREQUAL "OFF")
    message(STATUS "Gloo: left out, as MARGAY_GLOO=OFF says") return ()
        endif() if (MARGAY_GLOO STREQUAL
                    "AUTO" AND MARGAY_STATIC) message(STATUS
                                                      "Gloo: left out, for MARGAY_STATIC links no "
                                                      "shared library (MARGAY_GLOO=AUTO)") return ()
            endif() find_package(Gloo QUIET) if (NOT Gloo_FOUND) if (MARGAY_GLOO STREQUAL "ON")
                message(FATAL_ERROR
                        "MARGAY_GLOO=ON, but no Gloo was found (Debian: libgloo-dev)") endif()
                    message(STATUS
                            "Gloo: left out, for none was found (MARGAY_GLOO=AUTO)") return ()
                        endif() set(MARGAY_WITH_GLOO ON)
                            message(STATUS
                                    "Gloo: in ${GLOO_INCLUDE_DIRS} (MARGAY_GLOO=${MARGAY_GLOO})")

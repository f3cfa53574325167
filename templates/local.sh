#!/bin/bash
# One attempt at one micrograph, on this machine. margayd fills in the names in double braces,
# quoted for the shell; an unknown name is an error. To change it, copy the folder and set
# `templates:` in the site's configuration.
set -u

step=()
backend=cpu
threads={{threads}}

#MARGAY include attempt.sh

begin_attempt
run_search

# Where PHP's FPM is: Debian names it by its version, and it is no program for everybody.
fpm=$(find /usr/sbin /usr/local/sbin -name 'php-fpm*' 2>/dev/null | sort | tail -n 1)

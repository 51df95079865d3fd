/** How a package is installed on this system, as a command to copy. */
const managers: readonly (readonly [program: string, command: string])[] = [
  ["apt-get", "sudo apt-get install -y"],
  ["dnf", "sudo dnf install -y"],
  ["pacman", "sudo pacman -S --needed"],
  ["zypper", "sudo zypper install -y"],
  ["apk", "sudo apk add"],
];

export function installAdvice(pack: string, isThere: (program: string) => boolean): string {
  const [, command] = managers.find(([program]) => isThere(program)) ?? [];
  return command === undefined
    ? `install the package ${pack} with your system's package manager`
    : `run: ${command} ${pack}`;
}

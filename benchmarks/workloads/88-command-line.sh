# shellcheck shell=bash
# duration of `rookery status`, against an empty .NET program with ReadyToRun code
empty_program() { # DIRECTORY: publishes it outside the repository, so that the repository's build settings do not apply
  mkdir -p "$1"
  echo 'return 0;' >"$1/Program.cs"
  cat >"$1/empty.csproj" <<'TEXT'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <InvariantGlobalization>true</InvariantGlobalization>
    <ConcurrentGarbageCollection>false</ConcurrentGarbageCollection>
    <SelfContained>true</SelfContained>
    <PublishSingleFile>true</PublishSingleFile>
    <PublishTrimmed>true</PublishTrimmed>
    <PublishReadyToRun>true</PublishReadyToRun>
  </PropertyGroup>
</Project>
TEXT
  dotnet publish "$1" -c Release -r "linux-$([[ $(uname -m) = aarch64 ]] && echo arm64 || echo x64)" -o "$1/out" -v quiet --nologo >&2
}
milliseconds_of() { # COMMAND...
  local from=$EPOCHREALTIME
  "$@" >/dev/null
  awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", (b - a) * 1000 }'
}
empty_program "$WORK/empty"
start_rookery "$WORK/command-line"
for _ in $(seq 41); do
  milliseconds_of "$WORK/empty/out/empty" >>"$WORK/empty.ms"
  milliseconds_of "$ROOKERY" status --url "http://127.0.0.1:$PORT" >>"$WORK/status.ms"
done
empty=$(median <"$WORK/empty.ms") status=$(median <"$WORK/status.ms")
row command-line "median of 41" "empty program ms" "$empty"
row command-line "median of 41" "rookery status ms" "$status"
row command-line "median of 41" "rookery status / empty program" "$(ratio "$status" "$empty")"

using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Rookery.Board.Doctor;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server;

namespace Rookery.Doctor;

/// <summary>Gathers what `rookery doctor --report` prints beside the facts of `rookery doctor`.</summary>
internal static class BoardReportGathering
{
    private const long BytesPerKilobyte = 1024;
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    public static async Task<BoardReport> GatherAsync(DoctorFacts facts, CancellationToken cancellationToken)
    {
        var disk = new PosixDisk();
        string process = await ShowAsync(["MainPID"], ["rookery.service"], cancellationToken);
        return new BoardReport(ProductVersion.Text, facts)
        {
            Firmware =
                FirstLine(Read(disk, "proc/device-tree/chosen/bootloader/version"))
                ?? FirstLine(Read(disk, "sys/class/dmi/id/bios_version")),
            OperatingSystem = RestOfLine("PRETTY_NAME=", Read(disk, "etc/os-release"))?.Trim('"'),
            Kernel = FirstLine(Read(disk, "proc/sys/kernel/osrelease")),
            Processors = Environment.ProcessorCount,
            MemoryBytes = BytesIn("MemTotal:", Read(disk, "proc/meminfo")),
            UptimeSeconds = double.TryParse(
                Read(disk, "proc/uptime").Split(' ')[0],
                NumberStyles.Float,
                CultureInfo.InvariantCulture,
                out double uptime
            )
                ? uptime
                : null,
            Boot = BootStage.Parse(
                await ShowAsync(["InitRDTimestampMonotonic", "UserspaceTimestampMonotonic"], [], cancellationToken)
                    + "\n"
                    + await ShowAsync(["Id", "ActiveEnterTimestampMonotonic"], BootStage.Units, cancellationToken)
            ),
            // It is 0 if the node does not run.
            NodeResidentBytes = RestOfLine("MainPID=", process) is { } id and not "0"
                ? BytesIn("VmRSS:", Read(disk, $"proc/{id}/status"))
                : null,
        };
    }

    private static string Read(PosixDisk disk, string path) =>
        SmallFile.ReadText(disk, Path.Join(SmallFile.Root, path)) ?? string.Empty;

    private static string? FirstLine(string text) =>
        text.Split('\n')[0].Trim('\0', ' ') is { Length: > 0 } line ? line : null;

    private static string? RestOfLine(string begin, string text) =>
        Array.Find(text.Split('\n'), line => line.StartsWith(begin, StringComparison.Ordinal))?[begin.Length..];

    /// <summary>Returns the size in a line such as "VmRSS:  1234 kB".</summary>
    private static long? BytesIn(string begin, string table) =>
        long.TryParse(
            RestOfLine(begin, table)?.Trim(' ', '\t', 'k', 'B'),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out long kilobytes
        )
            ? kilobytes * BytesPerKilobyte
            : null;

    /// <summary>Returns the output of `systemctl show`; empty without systemd.</summary>
    private static async Task<string> ShowAsync(
        IReadOnlyList<string> properties,
        IReadOnlyList<string> units,
        CancellationToken cancellationToken
    )
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo("systemctl", ["show", $"--property={string.Join(',', properties)}", .. units])
                {
                    RedirectStandardOutput = true,
                    RedirectStandardError = true,
                    UseShellExecute = false,
                }
            )!;
            using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            timeout.CancelAfter(Timeout);
            try
            {
                string output = await process.StandardOutput.ReadToEndAsync(timeout.Token);
                await process.WaitForExitAsync(timeout.Token);
                return process.ExitCode == 0 ? output : string.Empty;
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                process.Kill();
                return string.Empty;
            }
        }
        catch (Win32Exception)
        {
            return string.Empty; // systemctl is not installed
        }
    }
}

using System.Globalization;
using System.Text;
using Rookery.Board.Doctor;
using Rookery.Doctor;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Support;

/// <summary>
/// The parts of a debug package about the machine and the node's files. They contain the names and sizes of files,
/// never their content.
/// </summary>
internal static class SystemParts
{
    private const int MaxFiles = 20_000;

    private static readonly (string Name, string Path)[] Tables =
    [
        ("os-release", "/etc/os-release"),
        ("version", "/proc/version"),
        ("uptime", "/proc/uptime"),
        ("loadavg", "/proc/loadavg"),
        ("meminfo", "/proc/meminfo"),
        ("status", "/proc/self/status"),
        ("limits", "/proc/self/limits"),
        ("diskstats", "/proc/diskstats"),
        ("partitions", "/proc/partitions"),
        ("mounts", "/proc/self/mounts"),
        ("pressure-io", "/proc/pressure/io"),
        ("pressure-cpu", "/proc/pressure/cpu"),
        ("pressure-memory", "/proc/pressure/memory"),
        ("net-dev", "/proc/net/dev"),
        ("cpuinfo", "/proc/cpuinfo"),
    ];

    /// <summary>Returns the parts.</summary>
    public static IReadOnlyList<DebugPart> Of(ServeConfiguration configuration, TimeProvider time) =>
        [
            DebugPart.OfText(
                "files.txt",
                "files of data and journal: bytes, time of the last change, name",
                () => List(configuration)
            ),
            new DebugPart(
                "doctor.json",
                "what `rookery doctor` finds on this machine",
                async (stream, cancellation) =>
                {
                    var findings = Judgement.Of(
                        await FactGathering.GatherAsync(
                            ExaminedNode.Of(configuration),
                            probes: false,
                            time,
                            cancellation
                        )
                    );
                    stream.Write(Encoding.UTF8.GetBytes(DoctorCommand.InJson(findings)));
                }
            ),
            .. Tables.Select(static table =>
                DebugPart.OfText($"system/{table.Name}.txt", table.Path, () => Read(table.Path))
            ),
        ];

    /// <summary>Reads a kernel table without the serial number of a Raspberry Pi, which is private.</summary>
    private static string Read(string path) =>
        string.Join(
            '\n',
            KernelTable
                .Read(new PosixDisk(), path)
                .Split('\n')
                .Where(static line => !line.StartsWith("Serial", StringComparison.Ordinal))
        );

    private static string List(ServeConfiguration configuration)
    {
        var text = new StringBuilder();
        int remaining = MaxFiles;
        List<string> directories = [configuration.DataDirectory];
        if (configuration.JournalDirectory is { } journal)
        {
            directories.Add(journal);
        }

        foreach (string directory in directories)
        {
            text.Append(directory).Append(":\n");
            var options = new EnumerationOptions
            {
                RecurseSubdirectories = true,
                IgnoreInaccessible = true,
                AttributesToSkip = FileAttributes.ReparsePoint,
            };
            var files = new DirectoryInfo(directory)
                .EnumerateFiles("*", options)
                .OrderBy(static file => file.FullName, StringComparer.Ordinal);
            foreach (var file in files)
            {
                if (remaining == 0)
                {
                    text.Append(CultureInfo.InvariantCulture, $"and more than these {MaxFiles}\n");
                    return text.ToString();
                }

                remaining--;
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"{file.Length, 14} {file.LastWriteTimeUtc:u} {Path.GetRelativePath(directory, file.FullName)}\n"
                );
            }
        }

        return text.ToString();
    }
}

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

    // The folder of the data directory with the contents of attachments.
    private const string ContentsName = "attachments";

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
                "files of data and journal: bytes, time of the last change, name; the number of attachments' contents",
                () => List(DirectoriesOf(configuration))
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

    private static IEnumerable<string> DirectoriesOf(ServeConfiguration configuration) =>
        configuration.JournalDirectory is { } journal
            ? [configuration.DataDirectory, journal]
            : [configuration.DataDirectory];

    /// <summary>
    /// Lists the files of the directories, at most <paramref name="maxFiles"/>. The contents of attachments, each of
    /// which is a file, are only counted, for each database. Only listed files are in memory together: a list of all
    /// contents could take more than a small node has.
    /// </summary>
    internal static string List(IEnumerable<string> directories, int maxFiles = MaxFiles)
    {
        var text = new StringBuilder();
        int remaining = maxFiles;
        foreach (string directory in directories)
        {
            text.Append(directory).Append(":\n");
            var (files, contents, hasMore) = Gather(directory, remaining);
            remaining -= files.Count;
            foreach (
                var file in files
                    .OrderBy(static file => file.FullName, StringComparer.Ordinal)
                    .Where(static file => file.Exists) // it may have been deleted since
            )
            {
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"{file.Length, 14} {file.LastWriteTimeUtc:u} {Path.GetRelativePath(directory, file.FullName)}\n"
                );
            }

            foreach (var (name, count) in contents)
            {
                text.Append(CultureInfo.InvariantCulture, $"{Amount.Of(count, "file")} in {name}\n");
            }

            if (hasMore)
            {
                text.Append(CultureInfo.InvariantCulture, $"and more than these {maxFiles}\n");
                break;
            }
        }

        return text.ToString();
    }

    private static (List<FileInfo> Files, SortedDictionary<string, long> Contents, bool HasMore) Gather(
        string directory,
        int maxFiles
    )
    {
        var options = new EnumerationOptions
        {
            RecurseSubdirectories = true,
            IgnoreInaccessible = true,
            AttributesToSkip = FileAttributes.ReparsePoint,
        };
        var files = new List<FileInfo>();
        var contents = new SortedDictionary<string, long>(StringComparer.Ordinal);
        foreach (var file in new DirectoryInfo(directory).EnumerateFiles("*", options))
        {
            string[] names = Path.GetRelativePath(directory, file.FullName).Split('/');
            if (names is [ContentsName, var database, _, ..])
            {
                string name = $"{ContentsName}/{database}";
                contents[name] = contents.GetValueOrDefault(name) + 1;
            }
            else if (files.Count == maxFiles)
            {
                return (files, contents, HasMore: true);
            }
            else
            {
                files.Add(file);
            }
        }

        return (files, contents, HasMore: false);
    }
}

using System.Globalization;
using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>A file of a backup, as the manifest lists it.</summary>
/// <param name="Name">Path within the backup, with a slash as separator.</param>
/// <param name="Bytes">Length of the file.</param>
/// <param name="Checksum">CRC-32C of the content.</param>
internal sealed record BackupFile(string Name, long Bytes, uint Checksum);

/// <summary>
/// The file <c>backup.manifest</c>: lines of text, "key value". The first line names the format, the last has the
/// CRC-32C of the lines before. It is written last, after all other files were synced and read back. A directory
/// without it contains no complete backup.
/// </summary>
internal sealed record BackupManifest(IReadOnlyList<string> Heading, IReadOnlyList<BackupFile> Files)
{
    public const string FileName = "backup.manifest";

    private const int FormatVersion = 1;
    private const int MaxBytes = 16 << 20;
    private const string FirstKey = "rookery backup format ";
    private const string DatabaseKey = "database ";
    private const string FileKey = "file ";
    private const string LevelKey = "format-level ";
    private const string UnreadableKey = "unreadable-content ";

    private const string UnreadableTotalKey = "unreadable-total ";

    /// <summary>Maximum number of contents that a manifest names as unreadable.</summary>
    public const int MaxUnreadable = 1000;

    private const string ChecksumKey = "checksum ";
    private const int ChecksumDigits = 8;

    /// <summary>The contents of attachments that the backup lacks, or has with damage.</summary>
    public UnreadableContents Unreadable => UnreadableIn(Heading);

    /// <summary>Names of the databases in the backup.</summary>
    public IEnumerable<string> Databases =>
        Heading
            .Where(line => line.StartsWith(DatabaseKey, StringComparison.Ordinal))
            .Select(line => line[DatabaseKey.Length..]);

    /// <summary>
    /// The level of the formats in the backup; null if the manifest has no such line, as in the first version.
    /// </summary>
    /// <exception cref="BackupException">A newer version wrote the level in another form.</exception>
    public FormatLevel? Level =>
        Heading.FirstOrDefault(static line => line.StartsWith(LevelKey, StringComparison.Ordinal)) is { } line
            ? FormatLevel.Parse(line[LevelKey.Length..])
                ?? throw new BackupException(
                    $"The backup has a \"{line}\", which this version of Rookery does not know. Restore with the "
                        + $"version that took it."
                )
            : null;

    /// <summary>Total length of all files; <see cref="long.MaxValue"/> if forged lengths overflow.</summary>
    public long TotalBytes =>
        Files.Aggregate(0L, static (sum, file) => Math.Min(long.MaxValue - file.Bytes, sum) + file.Bytes);

    /// <summary>
    /// Returns whether a file of a backup may have this name. Names come from a connection or a manifest, and must not
    /// point outside the directory.
    /// </summary>
    public static bool IsName(string name) =>
        name.Split('/')
            is ([BackupFrames.FileName] or [NodeBackup.StorageFolder, _] or [ContentBackup.Folder, _])
                and [.., var last]
        && !last.StartsWith('.')
        && last.Length > 0
        && last.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' or '.');

    /// <summary>Returns the contents that the lines before the list of files name as unreadable.</summary>
    public static UnreadableContents UnreadableIn(IEnumerable<string> heading)
    {
        string[] lines = [.. heading];
        string[] named =
        [
            .. lines
                .Where(static line => line.StartsWith(UnreadableKey, StringComparison.Ordinal))
                .Select(static line => line[UnreadableKey.Length..]),
        ];
        string? total = Array.Find(lines, static line => line.StartsWith(UnreadableTotalKey, StringComparison.Ordinal));
        return new UnreadableContents(
            named,
            long.TryParse(
                total?[UnreadableTotalKey.Length..],
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long parsed
            )
                ? Math.Max(parsed, named.Length)
                : named.Length
        );
    }

    /// <summary>Returns the lines before the list of files.</summary>
    public static string HeadingOf(
        string nodeId,
        string clusterId,
        DateTimeOffset taken,
        long throughIndex,
        long throughEtag,
        FormatLevel level,
        IEnumerable<string> databases,
        IReadOnlyCollection<string> unreadable
    )
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"{FirstKey}{FormatVersion}\nnode {nodeId}\ncluster {clusterId}\ntaken {taken.UtcDateTime:O}\n"
        );
        text.Append(CultureInfo.InvariantCulture, $"through-index {throughIndex}\nthrough-etag {throughEtag}\n");
        text.Append(LevelKey).Append(level).Append('\n');
        foreach (string name in databases)
        {
            text.Append(DatabaseKey).Append(name).Append('\n');
        }

        if (unreadable.Count > 0)
        {
            text.Append(CultureInfo.InvariantCulture, $"{UnreadableTotalKey}{unreadable.Count}\n");
        }

        foreach (string content in unreadable.Take(MaxUnreadable))
        {
            text.Append(UnreadableKey).Append(content).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>Writes the manifest, durably and atomically.</summary>
    public static void Write(IDisk disk, string directory, string heading, IEnumerable<BackupFile> files)
    {
        var text = new StringBuilder(heading);
        foreach (var file in files)
        {
            text.Append(CultureInfo.InvariantCulture, $"{FileKey}{file.Checksum:x8} {file.Bytes} {file.Name}\n");
        }

        byte[] lines = Encoding.UTF8.GetBytes(text.ToString());
        byte[] bytes = [.. lines, .. Encoding.ASCII.GetBytes($"{ChecksumKey}{Checksum.Of(lines):x8}\n")];
        string path = Path.Join(directory, FileName);
        using (var file = disk.Open(path + ".new", DiskOpen.CreateNew))
        {
            file.Write(bytes, 0);
            file.Sync();
        }

        disk.Rename(path + ".new", path);
        disk.SyncDirectory(directory); // from here on the directory is a backup
    }

    /// <summary>Returns whether a directory contains a backup, complete or unfinished.</summary>
    public static bool IsBackup(IDisk disk, string directory) =>
        disk.Exists(Path.Join(directory, FileName)) || disk.Exists(Path.Join(directory, BackupFrames.FileName));

    /// <summary>Returns whether a directory contains files of a backup but no manifest.</summary>
    public static bool IsUnfinished(IDisk disk, string directory) =>
        disk.Exists(Path.Join(directory, BackupFrames.FileName)) && !disk.Exists(Path.Join(directory, FileName));

    /// <summary>Reads the manifest of a directory.</summary>
    /// <exception cref="BackupException">The manifest is missing, damaged or of a newer version.</exception>
    public static BackupManifest Read(IDisk disk, string directory)
    {
        string path = Path.Join(directory, FileName);
        if (!disk.Exists(directory))
        {
            throw new BackupException($"There is no directory {directory}.");
        }

        if (!disk.Exists(path))
        {
            throw new BackupException(
                $"{directory} holds no complete backup: there is no {FileName} in it. A backup that was "
                    + $"interrupted looks like this. Use another one."
            );
        }

        byte[] bytes;
        using (var file = disk.Open(path, DiskOpen.Read))
        {
            if (file.Length > MaxBytes)
            {
                throw new BackupException(
                    $"{path} has more than {MaxBytes >> 20} MiB, which no manifest has. Use another backup."
                );
            }

            bytes = new byte[file.Length];
            file.Read(bytes, 0);
        }

        return Parse(bytes)
            ?? throw new BackupException($"{path} is damaged: its checksum does not match. Use another backup.");
    }

    private static BackupManifest? Parse(byte[] bytes)
    {
        string text = Encoding.UTF8.GetString(bytes);
        int end = text.LastIndexOf('\n' + ChecksumKey, StringComparison.Ordinal) + 1;
        int lastLineBytes = ChecksumKey.Length + ChecksumDigits + 1;
        uint checksum = Checksum.Of(bytes.AsSpan(0, Math.Max(0, bytes.Length - lastLineBytes)));
        if (end == 0 || !string.Equals(text[end..], $"{ChecksumKey}{checksum:x8}\n", StringComparison.Ordinal))
        {
            return null;
        }

        string[] lines = text[..end].Split('\n', StringSplitOptions.RemoveEmptyEntries);
        if (lines.Length == 0)
        {
            return null;
        }

        if (
            !string.Equals(
                lines[0],
                FirstKey + FormatVersion.ToString(CultureInfo.InvariantCulture),
                StringComparison.Ordinal
            )
        )
        {
            throw new BackupException(
                $"The backup begins with \"{lines[0]}\", and this version of Rookery reads format {FormatVersion}. "
                    + $"Restore with the version that took it."
            );
        }

        BackupFile?[] files =
        [
            .. lines.Where(line => line.StartsWith(FileKey, StringComparison.Ordinal)).Select(ParseFile),
        ];
        return Array.Exists(files, static file => file is null)
            ? null
            : new BackupManifest([.. lines.Where(line => !line.StartsWith(FileKey, StringComparison.Ordinal))], files!);
    }

    /// <summary>
    /// Parses the line of a file; null if it is not valid. The checksum does not protect against a forged line.
    /// </summary>
    private static BackupFile? ParseFile(string line) =>
        line.Split(' ', 4) is [_, var checksum, var bytes, var name]
        && IsName(name)
        && uint.TryParse(checksum, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out uint parsed)
        && long.TryParse(bytes, NumberStyles.None, CultureInfo.InvariantCulture, out long length)
            ? new BackupFile(name, length, parsed)
            : null;
}

using System.Globalization;
using System.Text;
using Rookery.Documents.Records;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The level of file and log formats that a cluster's members may write, one number for all formats. A new program
/// writes only formats of the current level, so that the old program can still be put back. Only the last step of an
/// upgrade (<c>rookery cluster finalize-upgrade</c>) raises the level. Members agree on it by a cluster record. When a
/// node applies that record, it writes the level into a file in its data directory. Every program reads that file
/// first, and stops if it does not know the level.
/// </summary>
/// <param name="Level">The level. A program reads all levels up to the newest that it knows.</param>
/// <param name="Program">The first program version that knows the level.</param>
public sealed record FormatLevel(int Level, string Program)
{
    /// <summary>
    /// The newest level that this program knows. Raise it whenever a format is added that the previous program cannot
    /// read.
    /// </summary>
    public const int Newest = 3;

    /// <summary>The level of the first version.</summary>
    public const int Oldest = 1;

    /// <summary>
    /// From this level on the log may contain index definitions (<see cref="Commands.CommandKind.ChangeIndexes"/>).
    /// </summary>
    public const int Indexes = 2;

    /// <summary>From this level on patches may contain compiled scripts of any form.</summary>
    public const int Scripts = 2;

    /// <summary>
    /// From this level on compiled scripts of patches may be of the second version, which has bitwise operators,
    /// <c>in</c>, <c>throw</c>, <c>for … in</c>, <c>sort</c> with a function, regular expressions, dates and further
    /// functions, changes metadata, and loads, stores and deletes other documents.
    /// </summary>
    public const int ScriptsOfSecondVersion = 3;

    /// <summary>From this level on patches may be JSON Patches (RFC 6902).</summary>
    public const int JsonPatches = 3;

    /// <summary>
    /// From this level on the log and the tables may contain compare-exchange values and cluster-wide transactions.
    /// </summary>
    public const int CompareExchange = 3;

    /// <summary>From this level on the log and the tables may contain counters of documents.</summary>
    public const int Counters = 3;

    /// <summary>From this level on documents may have attachments.</summary>
    public const int Attachments = 3;

    /// <summary>From this level on the log and the tables may contain configurations of databases.</summary>
    public const int Configurations = 3;

    /// <summary>From this level on the log and the tables may contain revisions of documents.</summary>
    public const int Revisions = 3;

    /// <summary>From this level on an id that ends in <c>/</c> gets a number of its database.</summary>
    public const int IdNumbers = 3;

    /// <summary>From this level on the log and the tables may contain data subscriptions.</summary>
    public const int Subscriptions = 3;

    /// <summary>From this level on the log may contain commands of Redis.</summary>
    public const int Redis = 3;

    /// <summary>
    /// Key of the cluster record with the agreed level. Without the record the level is <see cref="First"/>.
    /// </summary>
    public const string RecordKey = "format-level";

    internal const string FileName = "format-level";

    private const string Heading = "rookery format level ";
    private const int MaxBytes = 256;

    /// <summary>The level of the first version.</summary>
    public static FormatLevel First { get; } = new(Level: 1, "0.1.0");

    /// <summary>Version of this program.</summary>
    public static string ProgramVersion { get; } =
        typeof(FormatLevel).Assembly.GetName().Version is { } version ? version.ToString(3) : First.Program;

    /// <summary>Decodes the cluster record; returns <see cref="First"/> if it is null.</summary>
    /// <exception cref="DataFormatException">The record does not decode.</exception>
    public static FormatLevel Of(ClusterRecord? record) =>
        record is null
            ? First
            : Parse(Encoding.ASCII.GetString(record.Value.Span))
                ?? throw new DataFormatException(
                    $"The cluster's record {RecordKey} was written by a newer version of Rookery than "
                        + $"{ProgramVersion}. Start that one."
                );

    /// <summary>Encodes the level as the record's value.</summary>
    public byte[] ToRecord() => Encoding.ASCII.GetBytes(ToString());

    /// <summary>Returns the text that the record and the file contain.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Level} {Program}");

    /// <summary>
    /// Refuses a directory whose level this program does not know. Reads one small file and changes nothing.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The data directory.</param>
    /// <param name="newest">The newest level that this program knows.</param>
    /// <exception cref="DataFormatException">The level is newer; the message names the version to install.</exception>
    public static void Check(IDisk disk, string directory, int newest = Newest) =>
        Read(disk, directory).Require(newest, directory);

    /// <summary>Reads the level from the data directory; returns <see cref="First"/> if the file is missing.</summary>
    internal static FormatLevel Read(IDisk disk, string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (!disk.Exists(path))
        {
            return First;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(file.Length, MaxBytes)];
        string text = Encoding.ASCII.GetString(bytes, 0, file.Read(bytes, 0));
        int check = text.LastIndexOf("check ", StringComparison.Ordinal);
        if (
            check < 0
            || !string.Equals(text[check..], DataDirectory.CheckLine(text[..check]), StringComparison.Ordinal)
        )
        {
            throw Damaged(path, text.Length == 0 ? "is empty" : "is damaged: its checksum does not match");
        }

        // The checksum is right, so a newer program wrote what this program cannot read.
        return
            text[..check].Split('\n') is [var levelLine, ""]
            && levelLine.StartsWith(Heading, StringComparison.Ordinal)
            && Parse(levelLine[Heading.Length..]) is { } level
            ? level
            : throw Unknown(path);
    }

    /// <summary>Writes the level into the data directory, durably.</summary>
    internal void Write(IDisk disk, string directory)
    {
        string levelLine = $"{Heading}{this}\n";
        DataDirectory.Replace(disk, directory, FileName, levelLine + DataDirectory.CheckLine(levelLine));
    }

    /// <summary>Throws if the level is higher than <paramref name="newest"/>.</summary>
    internal void Require(int newest, string directory)
    {
        if (Level > newest)
        {
            throw new DataFormatException(
                $"{directory} is written at format level {Level}, and this program, version {ProgramVersion}"
                    + $", knows levels up to {newest}: install version {Program} or a newer one. Nothing was "
                    + $"changed."
            )
            {
                IsConfigurationFault = true,
            };
        }
    }

    /// <summary>Parses the result of <see cref="ToString"/>; null if the text is not a level.</summary>
    internal static FormatLevel? Parse(string text) =>
        text.Split(' ') is [var number, { Length: > 0 } program, ..]
        && int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out int level)
        && level > 0
            ? new FormatLevel(level, program)
            : null;

    // Without the file, a node has the level of its cluster's record, or the first level. A new single node has no
    // record until `rookery cluster finalize-upgrade` is run on it.
    private static DataFormatException Damaged(string path, string trouble) =>
        new(
            $"{path} {trouble}, so the format level of the data is not known. Nothing was changed. Put the file back "
                + $"from a copy of the directory. Without a copy, delete the file, if no newer version than "
                + $"{ProgramVersion} ever ran on this node; otherwise install that version first. Then start the node, "
                + "and run `rookery cluster finalize-upgrade`, which writes the file again."
        )
        {
            IsConfigurationFault = true,
        };

    private static DataFormatException Unknown(string path) =>
        new(
            $"{path} was written by a newer version of Rookery than {ProgramVersion}. Nothing was changed. Install the "
                + "newest version that ever ran on this node."
        )
        {
            IsConfigurationFault = true,
        };
}

using System.Globalization;
using System.Text;
using Rookery.Documents.Records;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// What the members of a cluster may write: one number over all formats. A new program writes by the level that it
/// finds and no more, so that the program before it can be put back; only the last step of an upgrade (<c>rookery
/// cluster finalize-upgrade</c>) raises it. The members agree on it by a record. Each node notes it beside its data as
/// it applies that record, for a program that is too old: that reads the note first, and nothing else.
/// </summary>
/// <param name="Level">The number. Programs read all levels up to the newest that they know.</param>
/// <param name="Program">The version of a program that knows it.</param>
public sealed record FormatLevel(int Level, string Program)
{
    /// <summary>
    /// The newest that this program knows. It is raised with the first format that the program of before cannot read: 1
    /// is what the first version wrote.
    /// </summary>
    public const int Newest = 2;

    /// <summary>What the first version wrote.</summary>
    public const int Oldest = 1;

    /// <summary>
    /// From here on the log may hold definitions of indexes (<see cref="Commands.CommandKind.ChangeIndexes"/>).
    /// </summary>
    public const int Indexes = 2;

    /// <summary>From here on patches may hold compiled scripts of any form.</summary>
    public const int Scripts = 2;

    /// <summary>The key of the record by which the members agree. Without one they are at the first level.</summary>
    public const string RecordKey = "format-level";

    internal const string FileName = "format-level";

    private const string Heading = "rookery format level ";
    private const int MostBytes = 256;

    /// <summary>What the first version wrote.</summary>
    public static FormatLevel First { get; } = new(1, "0.1.0");

    /// <summary>The version of this program.</summary>
    public static string ProgramVersion { get; } =
        typeof(FormatLevel).Assembly.GetName().Version is { } version ? version.ToString(3) : First.Program;

    /// <summary>What a record says; <see cref="First"/> where there is none.</summary>
    /// <exception cref="DataFormatException">It says nothing that this program understands.</exception>
    public static FormatLevel Of(ClusterRecord? record) =>
        record is null
            ? First
            : Parse(Encoding.ASCII.GetString(record.Value.Span))
                ?? throw new DataFormatException(
                    $"The cluster's record {RecordKey} was written by a newer version of Rookery than "
                        + $"{ProgramVersion}. Start that one."
                );

    /// <summary>The record's value.</summary>
    public byte[] ToRecord() => Encoding.ASCII.GetBytes(ToString());

    /// <summary>As it stands in the record and beside the data.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Level} {Program}");

    /// <summary>
    /// Refuses data that a newer program writes than this one; reads one small file and changes nothing.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">The data directory.</param>
    /// <param name="newest">The newest level that the program knows.</param>
    /// <exception cref="DataFormatException">They are; the message names the version to install.</exception>
    public static void Check(IDisk disk, string directory, int newest = Newest) =>
        Read(disk, directory).Require(newest, directory);

    /// <summary>What is noted beside the data; <see cref="First"/> where nothing is.</summary>
    internal static FormatLevel Read(IDisk disk, string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (!disk.Exists(path))
        {
            return First;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(file.Length, MostBytes)];
        string[] lines = Encoding.ASCII.GetString(bytes, 0, file.Read(bytes, 0)).Split('\n');
        return
            lines is [var said, var check, ""]
            && said.StartsWith(Heading, StringComparison.Ordinal)
            && string.Equals(check + "\n", DataDirectory.CheckLine(said + "\n"), StringComparison.Ordinal)
            ? Parse(said[Heading.Length..]) ?? throw Unreadable(path)
            : throw Unreadable(path);
    }

    /// <summary>Notes it beside the data, durably.</summary>
    internal void Write(IDisk disk, string directory)
    {
        string said = $"{Heading}{this}\n";
        DataDirectory.Replace(disk, directory, FileName, said + DataDirectory.CheckLine(said));
    }

    /// <summary>Refuses it for a program that knows less.</summary>
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
                IsOfDirectory = true,
            };
        }
    }

    private static FormatLevel? Parse(string text) =>
        text.Split(' ') is [var number, { Length: > 0 } program, ..]
        && int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out int level)
        && level > 0
            ? new FormatLevel(level, program)
            : null;

    private static DataFormatException Unreadable(string path) =>
        new(
            $"{path} is damaged, or was written by a newer version of Rookery than {ProgramVersion}. Start "
                + $"the newest version that this node ever ran; where that says the same, put the file back from a "
                + $"backup, or on a member of a cluster replace the member, with `rookery cluster node replace "
                + $"NAME` on another one."
        )
        {
            IsOfDirectory = true,
        };
}

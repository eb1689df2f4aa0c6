using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Transfer;

/// <summary>
/// Records how far an import has come, in a file beside its input, so that another import can continue there.
/// </summary>
internal sealed record ImportJournal
{
    /// <summary>The suffix of the file's name.</summary>
    public const string Suffix = ".rookery-import";

    private const int SeedDigits = 32;

    /// <summary>The database.</summary>
    public required string Database { get; init; }

    /// <summary>
    /// The database's history id; null in files of older versions. A later database of the same name has another
    /// history id.
    /// </summary>
    public required string? History { get; init; }

    /// <summary>
    /// The input's length in bytes; 0 for stdin. An import continues only if length and modification time are the same.
    /// </summary>
    public required long InputBytes { get; init; }

    /// <summary>The modification time, in ticks of 100 ns (UTC). See <see cref="InputBytes"/>.</summary>
    public required long InputTicks { get; init; }

    /// <summary>Identifies this import: see <see cref="RecordId"/>.</summary>
    public required string Seed { get; init; }

    /// <summary>How the input is read, which determines its records.</summary>
    public required string Reading { get; init; }

    /// <summary>Records that the node has stored or refused.</summary>
    public long Records { get; init; }

    /// <summary>Documents stored.</summary>
    public long Stored { get; init; }

    /// <summary>Records refused.</summary>
    public long Bad { get; init; }

    /// <summary>Reads the file.</summary>
    /// <exception cref="AdminException">The file has another form.</exception>
    public static ImportJournal Read(string path)
    {
        // Opening a named pipe would wait for its writer, for ever if there is none.
        if (SpecialFile.Is(path))
        {
            throw NotValid(path);
        }

        try
        {
            using var json = JsonDocument.Parse(NodeAddress.ReadFile(path));
            var root = json.RootElement;
            var read = new ImportJournal
            {
                Database = root.GetProperty(nameof(Database)).GetString()!,
                History = root.TryGetProperty(nameof(History), out var history) ? history.GetString() : null,
                InputBytes = root.GetProperty(nameof(InputBytes)).GetInt64(),
                InputTicks = root.GetProperty(nameof(InputTicks)).GetInt64(),
                Seed = root.GetProperty(nameof(Seed)).GetString()!,
                Reading = root.GetProperty(nameof(Reading)).GetString()!,
                Records = root.GetProperty(nameof(Records)).GetInt64(),
                Stored = root.GetProperty(nameof(Stored)).GetInt64(),
                Bad = root.GetProperty(nameof(Bad)).GetInt64(),
            };
            return read.IsPossible ? read : throw NotValid(path);
        }
        catch (Exception invalid)
            when (invalid is JsonException or KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw NotValid(path);
        }
    }

    // With another seed or a negative count, documents would be stored twice or counted wrongly.
    private bool IsPossible =>
        Seed is { Length: SeedDigits }
        && Seed.All(char.IsAsciiHexDigitLower)
        && Stored >= 0
        && Bad >= 0
        && Records >= Stored
        && Records >= Bad;

    private static AdminException NotValid(string path) =>
        new($"{path} is not a valid record of an import. Delete it, and start over.", ExitCode.Configuration);

    /// <summary>Returns whether the file can be created.</summary>
    public static bool CanBeWritten(string path)
    {
        try
        {
            File.Create(path + ".new").Dispose();
            File.Delete(path + ".new");
            return true;
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>
    /// Replaces the file by one rename. After a power cut the file may be an older one. The records after it are then
    /// sent again and overwrite themselves.
    /// </summary>
    public void Write(string path)
    {
        string newer = path + ".new";
        try
        {
            File.WriteAllBytes(newer, ToJson());
            ExportDownload.SyncContent(newer);
            File.Move(newer, path, overwrite: true);
        }
        catch (IOException)
        {
            // A full disk needs the space of the incomplete file.
            File.Delete(newer);
            throw;
        }
    }

    private byte[] ToJson()
    {
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
        {
            json.WriteStartObject();
            json.WriteString("Database"u8, Database);
            json.WriteString("History"u8, History);
            json.WriteNumber("InputBytes"u8, InputBytes);
            json.WriteNumber("InputTicks"u8, InputTicks);
            json.WriteString("Seed"u8, Seed);
            json.WriteString("Reading"u8, Reading);
            json.WriteNumber("Records"u8, Records);
            json.WriteNumber("Stored"u8, Stored);
            json.WriteNumber("Bad"u8, Bad);
            json.WriteEndObject();
        }

        return text.ToArray();
    }
}

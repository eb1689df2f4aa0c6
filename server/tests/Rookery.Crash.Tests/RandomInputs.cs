using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>Draws ids, bodies and expectations of commands.</summary>
internal sealed class RandomInputs(Random random, SimulatedTimeProvider time)
{
    private static readonly string[] Collections = ["Users", "users", "Orders", ""];

    /// <summary>Whether documents have times at which they are refreshed and archived.</summary>
    public bool WithSchedules { get; set; }

    /// <summary>Draws the key of a compare-exchange value, in one of two casings.</summary>
    public string Key()
    {
        string key = $"keys/{random.Next(12)}/";
        return random.Next(5) == 0 ? key.ToUpperInvariant() : key;
    }

    /// <summary>Draws the index that a change expects: mostly the one given, sometimes another.</summary>
    public long Index(long index) =>
        random.Next(8) switch
        {
            0 => 0,
            1 => random.Next(200),
            _ => index,
        };

    /// <summary>
    /// Draws the body and the expiry of a compare-exchange value; 0 for none. Some bodies are long, to be stored in
    /// chunks. No value expires within the run, because the outcome would depend on the time of the command's entry in
    /// the log, which is not known here.
    /// </summary>
    public (string Body, long ExpiresAtTicks) Value(long now) =>
        (
            $"\"Object\":\"{Padding(random.Next(40) == 0 ? 70_000 : random.Next(100))}\"",
            random.Next(6) switch
            {
                0 => now + (TimeSpan.TicksPerDay * (1001 + random.Next(3))),
                1 => now + (TimeSpan.TicksPerDay * 1000),
                _ => 0,
            }
        );

    /// <summary>Returns the parsed form of a body; an expiry of 0 is none.</summary>
    public static ParsedDocument Parsed(string body, long expires) =>
        new()
        {
            BodyHead = Encoding.UTF8.GetBytes(body),
            ExpiresAtTicks = expires,
            Metadata =
                expires == 0
                    ? default
                    : Encoding.UTF8.GetBytes($"\"@expires\":\"{new DateTime(expires, DateTimeKind.Utc):O}\""),
        };

    /// <summary>
    /// Adds a random document to a batch, and returns the database with it. The node may give the document another id
    /// than the batch, <paramref name="storedAs"/>.
    /// </summary>
    public ModelDatabase Put(
        BatchWriter writer,
        ModelDatabase database,
        string id,
        ExpectedChangeVector expected,
        long etag,
        string? storedAs = null
    )
    {
        // Some documents are long, to be stored in chunks and in a journal segment of their own.
        string padding = Padding(random.Next(80) == 0 ? 70_000 : random.Next(200));
        string body = $"\"n\":{random.Next(1000)},\"pad\":\"{padding}\"";
        string collection = Collections[random.Next(Collections.Length)];
        long expires =
            random.Next(5) == 0 ? time.GetUtcNow().UtcTicks + (random.Next(300) * TimeSpan.TicksPerSecond) : 0;
        var document = new ModelDocument(storedAs ?? id, collection, body, etag, expires);
        if (WithSchedules && random.Next(3) == 0)
        {
            document = document with { RefreshTicks = Soon(), ArchiveTicks = Soon(), IsArchived = random.Next(4) == 0 };
        }

        writer.Put(
            Encoding.UTF8.GetBytes(id),
            expected,
            new ParsedDocument
            {
                BodyHead = Encoding.UTF8.GetBytes(body),
                Collection = Encoding.UTF8.GetBytes(collection),
                ExpiresAtTicks = expires,
                Metadata = Encoding.UTF8.GetBytes(MetadataOf(document)),
            }
        );
        return database.Put(document);
    }

    private long Soon() =>
        random.Next(3) == 0 ? 0 : time.GetUtcNow().UtcTicks + (random.Next(300) * TimeSpan.TicksPerSecond);

    private static string MetadataOf(ModelDocument document)
    {
        List<string> members = [];
        AddTime("@expires", document.ExpiresAtTicks);
        AddTime("@archive-at", document.ArchiveTicks);
        if (document.IsArchived)
        {
            members.Add("\"@archived\":true");
        }

        AddTime("@refresh", document.RefreshTicks);
        return string.Join(',', members);

        void AddTime(string name, long ticks)
        {
            if (ticks != 0)
            {
                members.Add($"\"{name}\":\"{new DateTime(ticks, DateTimeKind.Utc):O}\"");
            }
        }
    }

    /// <summary>Returns a text of a length; every second one can be compressed.</summary>
    public string Padding(int length) =>
        random.Next(2) == 0
            ? new string((char)('a' + random.Next(26)), length)
            : Convert.ToBase64String(Bytes(length * 3 / 4));

    /// <summary>Draws a document id, sometimes that of an existing document or in upper case.</summary>
    public string Id(ModelDatabase database) =>
        random.Next(20) switch
        {
            0 => $"users/{random.Next(40)}".ToUpperInvariant(),
            1 when database.Documents.Count > 0 => database
                .Documents.Values.ElementAt(random.Next(database.Documents.Count))
                .Id,
            _ => $"users/{random.Next(40)}",
        };

    /// <summary>
    /// Draws the expected change vector of a write: null for none, empty if the document must not exist.
    /// </summary>
    public string? Expectation(ModelDatabase database, ModelDocument? previous) =>
        random.Next(12) switch
        {
            0 => string.Empty,
            1 => database.ChangeVectorOf(random.Next(100)),
            2 or 3 or 4 when previous is not null => database.ChangeVectorOf(previous.Etag),
            2 => string.Empty,
            _ => null,
        };

    public byte[] Bytes(int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }
}

using System.Text.Json;
using Rookery.Json;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// One export or import of a dump: its progress and its result, with RavenDB's names. Thread-safe for readers.
/// </summary>
internal sealed class SmugglerOperation(uint database, long id) : LongOperation(database, id)
{
    private const int MaxMessages = 100;
    private const int MaxLeftOut = 64;

    // Room for an id and a name. Messages name parts of the dump, which can have megabytes, and all are kept and sent.
    private const int MaxMessageLength = 1200;

    private readonly Lock _lock = new();
    private readonly List<string> _messages = [];
    private readonly SortedDictionary<string, long> _leftOut = new(StringComparer.Ordinal);
    private long _hiddenMessages;

    /// <summary>Documents.</summary>
    public SmugglerCount Documents { get; } = new("Documents");

    /// <summary>Attachments of documents.</summary>
    public SmugglerCount Attachments { get; } = new("Attachments");

    /// <summary>Counters.</summary>
    public SmugglerCount Counters { get; } = new("Counters");

    /// <summary>Compare-exchange values.</summary>
    public SmugglerCount CompareExchange { get; } = new("CompareExchange");

    /// <summary>Identities.</summary>
    public SmugglerCount Identities { get; } = new("Identities");

    /// <summary>Definitions of indexes.</summary>
    public SmugglerCount Indexes { get; } = new("Indexes");

    /// <summary>Revisions of documents.</summary>
    public SmugglerCount Revisions { get; } = new("RevisionDocuments");

    /// <summary>Definitions of data subscriptions.</summary>
    public SmugglerCount Subscriptions { get; } = new("Subscriptions");

    /// <summary>The record of the database: 1, and the configurations of it that are not accepted.</summary>
    public SmugglerCount DatabaseRecord { get; } = new("DatabaseRecord");

    /// <inheritdoc/>
    public override long HeldBytes
    {
        get
        {
            lock (_lock)
            {
                return 2L * (_messages.Sum(static each => each.Length) + _leftOut.Keys.Sum(static each => each.Length));
            }
        }
    }

    /// <summary>Adds a sentence to the result. A long one is cut. Beyond a limit, sentences are only counted.</summary>
    public void Tell(string message)
    {
        lock (_lock)
        {
            if (_messages.Count < MaxMessages)
            {
                _messages.Add(ShortText.Of(message, MaxMessageLength));
            }
            else
            {
                _hiddenMessages++;
            }
        }
    }

    /// <summary>Counts parts of the dump or the database that are left out. The result names them.</summary>
    public void LeaveOut(string what, long count)
    {
        lock (_lock)
        {
            string name = ShortText.Of(what, MaxMessageLength);
            string kind = _leftOut.Count < MaxLeftOut || _leftOut.ContainsKey(name) ? name : "other parts";
            _leftOut[kind] = _leftOut.GetValueOrDefault(kind) + count;
        }
    }

    /// <inheritdoc/>
    public override void WriteProgress(Utf8JsonWriter json) => Write(json, isProcessed: false);

    /// <inheritdoc/>
    public override void WriteResult(Utf8JsonWriter json) => Write(json, isProcessed: true);

    private void Write(Utf8JsonWriter json, bool isProcessed)
    {
        json.WriteStartObject("Documents"u8);
        Documents.WriteMembers(json, isProcessed);
        json.WriteStartObject("Attachments"u8);
        Attachments.WriteMembers(json, isProcessed);
        json.WriteEndObject();
        json.WriteEndObject();
        foreach (
            var count in (SmugglerCount[])
                [DatabaseRecord, Revisions, Counters, CompareExchange, Identities, Indexes, Subscriptions]
        )
        {
            json.WriteStartObject(count.Name);
            count.WriteMembers(json, isProcessed);
            json.WriteEndObject();
        }

        lock (_lock)
        {
            json.WriteStartObject("LeftOut"u8);
            foreach (var (what, count) in _leftOut)
            {
                json.WriteNumber(what, count);
            }

            json.WriteEndObject();
            json.WriteStartArray("Messages"u8);
            foreach (var (what, count) in _leftOut)
            {
                json.WriteStringValue($"Left out, because this version does not support it: {what} ({count}).");
            }

            foreach (string message in _messages)
            {
                json.WriteStringValue(message);
            }

            if (_hiddenMessages > 0)
            {
                json.WriteStringValue($"There are {_hiddenMessages} more messages.");
            }

            json.WriteEndArray();
        }
    }
}

/// <summary>How much of one type of data was read. Written by one thread.</summary>
/// <param name="name">The name of the type in results.</param>
internal sealed class SmugglerCount(string name)
{
    private long _done;
    private long _errors;
    private long _skipped;

    /// <summary>The name of the type in results.</summary>
    public string Name => name;

    /// <summary>Number of items that were written.</summary>
    public long Done => Interlocked.Read(ref _done);

    /// <summary>Counts items that were written.</summary>
    public void Add(long count = 1) => Interlocked.Add(ref _done, count);

    /// <summary>Counts an item that was not written.</summary>
    public void Fail() => Interlocked.Increment(ref _errors);

    /// <summary>Counts items that were not written because the database has them, or newer ones.</summary>
    public void Skip(long count) => Interlocked.Add(ref _skipped, count);

    /// <summary>Writes the members of its object.</summary>
    public void WriteMembers(Utf8JsonWriter json, bool isProcessed)
    {
        json.WriteBoolean("Processed"u8, isProcessed);
        long errors = Interlocked.Read(ref _errors);
        long skipped = Interlocked.Read(ref _skipped);
        json.WriteNumber("ReadCount"u8, Done + errors + skipped); // as in RavenDB, with those that were not written
        json.WriteNumber("ErroredCount"u8, errors);
        json.WriteNumber("SkippedCount"u8, skipped);
    }
}

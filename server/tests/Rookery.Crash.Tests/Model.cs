using System.Collections.Immutable;
using Rookery.Documents.Databases;
using Rookery.Documents.Schedules;

namespace Rookery.Crash.Tests;

/// <summary>The model's expectation of a document.</summary>
internal sealed record ModelDocument(string Id, string Collection, string Body, long Etag, long ExpiresAtTicks)
{
    public long RefreshTicks { get; init; }

    public long ArchiveTicks { get; init; }

    public bool IsArchived { get; init; }

    /// <summary>Whether the database has rows about the document's times.</summary>
    public bool IsRegistered { get; init; }

    public long TimeOf(ScheduleKind kind) => kind == ScheduleKind.Refresh ? RefreshTicks : ArchiveTicks;
}

/// <summary>The model's expectation of a deletion.</summary>
internal sealed record ModelTombstone(string Id, string Collection, bool Moved);

/// <summary>The model's expectation of a compare-exchange value.</summary>
internal sealed record ModelValue(string Key, string Body, long Index, long ExpiresAtTicks);

/// <summary>The model's expectation of a subscription.</summary>
internal sealed record ModelSubscription(
    string Name,
    long Number,
    string Query,
    long Version,
    long Progress,
    bool IsAcknowledged
);

/// <summary>The model's expectation of a database.</summary>
internal sealed record ModelDatabase(uint Number, string Name, string HistoryId)
{
    public ImmutableSortedDictionary<string, ModelDocument> Documents { get; init; } =
        ImmutableSortedDictionary.Create<string, ModelDocument>(StringComparer.Ordinal);

    public ImmutableSortedDictionary<long, ModelTombstone> Tombstones { get; init; } =
        ImmutableSortedDictionary<long, ModelTombstone>.Empty;

    public ImmutableSortedDictionary<string, long> Identities { get; init; } =
        ImmutableSortedDictionary.Create<string, long>(StringComparer.Ordinal);

    /// <summary>Compare-exchange values and atomic guards by lower-cased key, expired or not.</summary>
    public ImmutableSortedDictionary<string, ModelValue> Values { get; init; } =
        ImmutableSortedDictionary.Create<string, ModelValue>(StringComparer.Ordinal);

    /// <summary>Counters by lower-cased id of the document, a zero byte and lower-cased name.</summary>
    public ImmutableSortedDictionary<string, (string Name, long Value)> Counters { get; init; } =
        ImmutableSortedDictionary.Create<string, (string Name, long Value)>(StringComparer.Ordinal);

    /// <summary>Subscriptions by lower-cased name.</summary>
    public ImmutableSortedDictionary<string, ModelSubscription> Subscriptions { get; init; } =
        ImmutableSortedDictionary.Create<string, ModelSubscription>(StringComparer.Ordinal);

    /// <summary>The last number of a subscription.</summary>
    public long LastSubscription { get; init; }

    /// <summary>Idempotency keys, each with its command and the expected outcome.</summary>
    public ImmutableDictionary<ulong, (byte[] Command, string Answer)> Keys { get; init; } =
        ImmutableDictionary<ulong, (byte[] Command, string Answer)>.Empty;

    /// <summary>Configurations by name.</summary>
    public ImmutableSortedDictionary<string, (string Json, long Etag)> Configurations { get; init; } =
        ImmutableSortedDictionary.Create<string, (string Json, long Etag)>(StringComparer.Ordinal);

    /// <summary>Whether stored documents are registered to be refreshed and archived.</summary>
    public bool KeepsSchedules =>
        Configurations.ContainsKey(ConfigurationName.Refresh)
        || Configurations.ContainsKey(ConfigurationName.DataArchival);

    /// <summary>Tombstones through this etag were removed.</summary>
    public long Horizon { get; init; }

    /// <summary>The etag of the last operation.</summary>
    public long LastEtag { get; init; }

    /// <summary>The etag of the last operation that stored or deleted a document.</summary>
    public long LastDocumentEtag { get; init; }

    public string ChangeVectorOf(long etag) => $"A:{etag}-{HistoryId}";

    public ModelDatabase Put(string id, string collection, string body, long expiresAtTicks, long etag) =>
        Put(new ModelDocument(id, collection, body, etag, expiresAtTicks));

    // The document of a range keeps its metadata, as the times in it.
    public ModelDatabase PutHilo(long max, long etag)
    {
        var put = new ModelDocument("Raven/Hilo/users", "@hilo", $"\"Max\":{max}", etag, ExpiresAtTicks: 0);
        return Put(
            Documents.TryGetValue("raven/hilo/users", out var previous)
                ? previous with
                {
                    Id = put.Id,
                    Collection = put.Collection,
                    Body = put.Body,
                    Etag = etag,
                }
                : put
        );
    }

    public ModelDatabase Put(ModelDocument document)
    {
        var database = this;
        string lower = document.Id.ToLowerInvariant();
        long etag = document.Etag;
        if (
            Documents.TryGetValue(lower, out var previous)
            && !string.Equals(previous.Collection, document.Collection, StringComparison.OrdinalIgnoreCase)
        )
        {
            database = database with
            {
                Tombstones = Tombstones.SetItem(
                    etag,
                    new ModelTombstone(previous.Id, previous.Collection, Moved: true)
                ),
            };
        }

        return database.Replace(document with { IsRegistered = KeepsSchedules }) with
        {
            LastDocumentEtag = etag,
        };
    }

    /// <summary>Returns the database with a document of the same id and collection.</summary>
    public ModelDatabase Replace(ModelDocument document) =>
        this with
        {
            Documents = Documents.SetItem(document.Id.ToLowerInvariant(), document),
        };

    public ModelDatabase PutValue(string key, string body, long expiresAtTicks, long index) =>
        this with
        {
            Values = Values.SetItem(key.ToLowerInvariant(), new ModelValue(key, body, index, expiresAtTicks)),
        };

    /// <summary>Returns the index of a value; 0 if there is none, or it has expired at this time.</summary>
    public long IndexOf(string key, long nowTicks) =>
        Values.TryGetValue(key.ToLowerInvariant(), out var value)
        && (value.ExpiresAtTicks == 0 || value.ExpiresAtTicks > nowTicks)
            ? value.Index
            : 0;

    public static string CounterKey(string id, string name) => $"{id}\0{name}".ToLowerInvariant();

    /// <summary>Returns the names of a document's counters.</summary>
    public string NamesOfCounters(string id) =>
        string.Join(
            '\n',
            Counters
                .Where(pair => pair.Key.StartsWith(CounterKey(id, ""), StringComparison.Ordinal))
                .Select(pair => pair.Value.Name)
        );

    public ModelDatabase Delete(string id, long etag) =>
        Documents.TryGetValue(id.ToLowerInvariant(), out var previous)
            ? this with
            {
                Documents = Documents.Remove(id.ToLowerInvariant()),
                Values = Values.Remove("rvn-atomic/" + id.ToLowerInvariant()),
                Counters = Counters.RemoveRange(
                    Counters.Keys.Where(key => key.StartsWith(CounterKey(id, ""), StringComparison.Ordinal))
                ),
                Tombstones = Tombstones.SetItem(
                    etag,
                    new ModelTombstone(previous.Id, previous.Collection, Moved: false)
                ),
                LastDocumentEtag = etag,
            }
            : this;
}

/// <summary>The expected state of a node: everything that a client can read.</summary>
internal sealed record Model(
    ImmutableSortedDictionary<uint, ModelDatabase> Databases,
    uint LastDatabaseNumber,
    long LastEtag
)
{
    public static Model Empty { get; } =
        new(ImmutableSortedDictionary<uint, ModelDatabase>.Empty, LastDatabaseNumber: 0, LastEtag: 0);

    /// <summary>Cluster records: value and version.</summary>
    public ImmutableSortedDictionary<string, (string Value, long Version)> Records { get; init; } =
        ImmutableSortedDictionary.Create<string, (string Value, long Version)>(StringComparer.Ordinal);

    public ModelDatabase? Find(string name) =>
        Databases.Values.FirstOrDefault(database =>
            string.Equals(database.Name, name, StringComparison.OrdinalIgnoreCase)
        );
}

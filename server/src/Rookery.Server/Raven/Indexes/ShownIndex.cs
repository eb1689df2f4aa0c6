using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Server.Raven.Indexes;

/// <summary>An index as clients see it: its replicated definition and settings, and its state on this node.</summary>
/// <param name="Record">The index's definition and settings.</param>
/// <param name="Automatic">The definition of an automatic map index; null for other kinds, and for definitions that
/// this version cannot read.</param>
/// <param name="Grouped">The definition of an automatic map/reduce index; otherwise null.</param>
/// <param name="Type">The index's type, in RavenDB's terms.</param>
/// <param name="Status">The index's state on this node; null if it is not open here.</param>
/// <param name="WhyNotMaintained">Why this node does not maintain the newest definition; null if it does, or has not
/// tried yet.</param>
internal sealed record ShownIndex(
    IndexRecord Record,
    AutoIndexDefinition? Automatic,
    AutoReduceDefinition? Grouped,
    string Type,
    IndexStatus? Status,
    string? WhyNotMaintained
)
{
    /// <summary>The index's name. A replacement that is still being built has the name that RavenDB gives it.</summary>
    public string Name => IsReplacement ? "ReplacementOf/" + Record.Name : Record.Name;

    /// <summary>Whether the index is built to replace the one with the same record name.</summary>
    public bool IsReplacement => Status is { IsReplacement: true };

    /// <summary>Whether a query defined the index.</summary>
    public bool IsAutomatic => Automatic is not null || Grouped is not null;

    /// <summary>State in RavenDB's terms.</summary>
    public string State
    {
        get
        {
            if (Record.Settings.IsDisabled)
            {
                return "Disabled";
            }

            if (Status?.State == IndexState.Error || WhyNotMaintained is not null)
            {
                return "Error";
            }

            return "Normal";
        }
    }

    /// <summary>What is wrong with the index on this node, in one or two sentences; null if nothing is wrong.</summary>
    public string? Trouble
    {
        get
        {
            if (WhyNotMaintained is null)
            {
                return Status?.Trouble;
            }

            if (Status is null)
            {
                return $"Not maintained on this node. {WhyNotMaintained}";
            }

            return "This node does not use its changed definition; the previous one answers queries. "
                + WhyNotMaintained;
        }
    }

    /// <summary>Number of errors on this node, including those too old for <c>indexes/errors</c> to list.</summary>
    public long Errors => (Status?.ErrorCount ?? 0) + (WhyNotMaintained is null ? 0 : 1);

    /// <summary>
    /// Whether the index is being updated, in RavenDB's terms. An index that this node is about to open runs already,
    /// for a client that has just defined or enabled it; one that the node does not maintain is pending.
    /// </summary>
    public string RunningStatus =>
        Status?.State switch
        {
            _ when Record.Settings.IsDisabled => "Disabled",
            null => WhyNotMaintained is null ? "Running" : "Pending",
            IndexState.Paused => "Paused",
            _ => "Running",
        };

    /// <summary>What the maps read, in RavenDB's terms, also of an index that this node has not opened.</summary>
    public string SourceType =>
        Status?.ReadsCounters ?? ReadDefined() is { IsOfCounters: true } ? "Counters" : "Documents";

    /// <summary>Whether there are documents that the index has not indexed.</summary>
    public bool IsStale => Status?.IsStale ?? true;

    /// <summary>Names of the indexed collections, as RavenDB shows them.</summary>
    public IReadOnlyList<string> Collections =>
        Status?.Collections is { Count: > 0 } collections ? collections
        : ReadDefined() is { Collections: { Count: > 0 } defined } ? defined
        : [Automatic?.Collection ?? Grouped?.Collection ?? AutoIndexDefinition.AllDocuments];

    /// <summary>Reads the definition; null for an automatic index, or if a newer version wrote it.</summary>
    public StaticIndexDefinition? ReadDefined()
    {
        try
        {
            return IsAutomatic ? null : StaticIndexDefinition.TryRead(Record.Definition);
        }
        catch (Exception unreadable) when (unreadable is IndexDefinitionException or InvalidOperationException)
        {
            return null;
        }
    }

    /// <summary>
    /// Returns all indexes of a database, by name. A replacement that is being built comes after the index it will
    /// replace.
    /// </summary>
    public static List<ShownIndex> All(IndexHost host, Database database)
    {
        IReadOnlyList<IndexRecord> records;
        using (var reader = database.OpenReader())
        {
            records = reader.ReadIndexes();
        }

        var statuses = host.ReadStatus(database).ToLookup(static status => status.Name, IgnoredCase.OfNames);
        return
        [
            .. records.SelectMany(record =>
                EachOf(record, statuses[record.Name], host.WhyNotMaintained(database, record.Name))
            ),
        ];
    }

    /// <summary>
    /// Requests that stale indexes soon include all documents. Clients wait for an index by reading statistics
    /// repeatedly; without a request, a change may be gathered with later ones for 5 s.
    /// </summary>
    public static void RequestFreshness(IndexHost host, Database database, IEnumerable<ShownIndex> indexes)
    {
        var stale = indexes.Where(static index => index.IsStale).Select(static index => index.Record.Name).ToList();
        foreach (string name in stale)
        {
            if (host.TryGetSlot(database, name, out var slot))
            {
                slot.All.ToList().ForEach(index => index.Waits.RequestFreshness(FreshEtag.Of(database, index.Map)));
            }
        }

        if (stale.Count > 0)
        {
            // One call is enough: when the indexing thread wakes, it checks every index.
            host.Wake();
        }
    }

    /// <summary>Returns the indexes with these names, or all if <paramref name="names"/> is empty.</summary>
    /// <param name="host">The indexes.</param>
    /// <param name="database">The database.</param>
    /// <param name="names">The names.</param>
    /// <param name="withReplacements">Whether a name also selects the replacement that is built for the index.</param>
    public static List<ShownIndex> Named(
        IndexHost host,
        Database database,
        IReadOnlyCollection<string> names,
        bool withReplacements = false
    )
    {
        var wanted = names.ToHashSet(IgnoredCase.OfNames);
        return
        [
            .. All(host, database)
                .Where(index =>
                    names.Count == 0
                    || wanted.Contains(index.Name)
                    || (withReplacements && wanted.Contains(index.Record.Name))
                ),
        ];
    }

    private static IEnumerable<ShownIndex> EachOf(
        IndexRecord record,
        IEnumerable<IndexStatus> statuses,
        string? whyNotMaintained
    ) =>
        statuses
            .Select(status =>
                Of(
                    status.Record with
                    {
                        Settings = record.Settings,
                    },
                    status,
                    status.IsReplacement ? null : whyNotMaintained
                )
            )
            .DefaultIfEmpty(Of(record, status: null, whyNotMaintained));

    private static ShownIndex Of(IndexRecord record, IndexStatus? status, string? whyNotMaintained)
    {
        try
        {
            if (AutoIndexDefinition.TryRead(record.Definition) is { } automatic)
            {
                return new ShownIndex(record, automatic, Grouped: null, "AutoMap", status, whyNotMaintained);
            }

            if (AutoReduceDefinition.TryRead(record.Definition) is { } grouped)
            {
                return new ShownIndex(record, Automatic: null, grouped, "AutoMapReduce", status, whyNotMaintained);
            }

            return new ShownIndex(
                record,
                Automatic: null,
                Grouped: null,
                TypeOf(record.Definition),
                status,
                whyNotMaintained
            );
        }
        catch (Exception unreadable)
            when (unreadable is IndexDefinitionException or JsonException or InvalidOperationException)
        {
            // This version cannot read the definition. The index is listed nevertheless, with the reason why this node
            // does not maintain it.
            return new ShownIndex(record, Automatic: null, Grouped: null, "None", status, whyNotMaintained);
        }
    }

    // Looks at the texts without compiling them, because many indexes may be listed.
    private static string TypeOf(ReadOnlyMemory<byte> definition)
    {
        using var json = JsonDocument.Parse(definition);
        bool isScript =
            json.RootElement.TryGetProperty("Maps", out var maps)
            && maps.EnumerateArray()
                .Any(static map =>
                    map.ValueKind == JsonValueKind.String
                    && map.GetString()!.StartsWith("map", StringComparison.Ordinal)
                );
        return (isScript ? "JavaScript" : "")
            + (json.RootElement.TryGetProperty("Reduce", out _) ? "MapReduce" : "Map");
    }
}

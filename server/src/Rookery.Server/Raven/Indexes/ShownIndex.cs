using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Server.Raven.Indexes;

/// <summary>An index as clients are told of it: what the log defines, and how this node is with it.</summary>
/// <param name="Record">Its definition, and how it is kept.</param>
/// <param name="Automatic">What it holds, when a query made it; null when its definition is of another kind, or one
/// that this program does not know.</param>
/// <param name="Grouped">The same of one that holds groups.</param>
/// <param name="Type">The kind, in RavenDB's words.</param>
/// <param name="Status">How it is on this node; null while that has not begun with it, or cannot.</param>
/// <param name="WhyNotKept">
/// Why this node does not follow its newest definition; null when it does, or did not look yet.
/// </param>
internal sealed record ShownIndex(
    IndexRecord Record,
    AutoIndexDefinition? Automatic,
    AutoReduceDefinition? Grouped,
    string Type,
    IndexStatus? Status,
    string? WhyNotKept
)
{
    /// <summary>
    /// The name; what is built to take the place of another one has a name of its own, as RavenDB gives it.
    /// </summary>
    public string Name => IsReplacement ? "ReplacementOf/" + Record.Name : Record.Name;

    /// <summary>Whether it is built to take the place of another one.</summary>
    public bool IsReplacement => Status is { IsReplacement: true };

    /// <summary>Whether a query made it.</summary>
    public bool IsAutomatic => Automatic is not null || Grouped is not null;

    /// <summary>What it does, in RavenDB's words.</summary>
    public string State =>
        Record.Settings.IsDisabled ? "Disabled"
        : Status?.State == IndexState.Error || WhyNotKept is not null ? "Error"
        : "Normal";

    /// <summary>Why it does not do what it should on this node, in a sentence or two; null when it does.</summary>
    public string? Trouble =>
        WhyNotKept is null ? Status?.Trouble
        : Status is null ? $"Not kept on this node. {WhyNotKept}"
        : $"Its changed definition is not followed on this node, and the one before answers. {WhyNotKept}";

    /// <summary>How many errors <c>indexes/errors</c> lists of it, and how many there were before those.</summary>
    public long Errors => (Status?.ErrorCount ?? 0) + (WhyNotKept is null ? 0 : 1);

    /// <summary>Whether it follows the documents, in RavenDB's words.</summary>
    public string RunningStatus =>
        Status?.State switch
        {
            _ when Record.Settings.IsDisabled => "Disabled",
            null => "Pending",
            IndexState.Paused => "Paused",
            _ => "Running",
        };

    /// <summary>Whether there are documents that it has not looked at.</summary>
    public bool IsStale => Status?.IsStale ?? true;

    /// <summary>The names of the collections whose documents it is of, as RavenDB shows them.</summary>
    public IReadOnlyList<string> Collections =>
        Status?.Collections is { Count: > 0 } collections
            ? collections
            : [Automatic?.Collection ?? Grouped?.Collection ?? AutoIndexDefinition.AllDocuments];

    /// <summary>
    /// All indexes of a database, by name; those that are built to take the place of another one behind it.
    /// </summary>
    public static List<ShownIndex> All(IndexHost host, Database database)
    {
        IReadOnlyList<IndexRecord> records;
        using (var reader = database.OpenReader())
        {
            records = reader.ReadIndexes();
        }

        var statuses = host.ReadStatus(database)
            .ToLookup(static status => status.Name, StringComparer.OrdinalIgnoreCase);
        return
        [
            .. records.SelectMany(record =>
                EachOf(record, statuses[record.Name], host.WhyNotKept(database, record.Name))
            ),
        ];
    }

    /// <summary>The indexes of these names, or all of them when none is named.</summary>
    /// <param name="host">The indexes.</param>
    /// <param name="database">Whose.</param>
    /// <param name="names">The names.</param>
    /// <param name="withReplacements">Whether what is built to take the place of one goes by its name, too.</param>
    public static List<ShownIndex> Named(
        IndexHost host,
        Database database,
        IReadOnlyCollection<string> names,
        bool withReplacements = false
    )
    {
        var wanted = names.ToHashSet(StringComparer.OrdinalIgnoreCase);
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
        string? whyNotKept
    ) =>
        statuses
            .Select(status =>
                Of(status.Record with { Settings = record.Settings }, status, status.IsReplacement ? null : whyNotKept)
            )
            .DefaultIfEmpty(Of(record, null, whyNotKept));

    private static ShownIndex Of(IndexRecord record, IndexStatus? status, string? whyNotKept)
    {
        try
        {
            return AutoIndexDefinition.TryRead(record.Definition) is { } automatic
                    ? new ShownIndex(record, automatic, null, "AutoMap", status, whyNotKept)
                : AutoReduceDefinition.TryRead(record.Definition) is { } grouped
                    ? new ShownIndex(record, null, grouped, "AutoMapReduce", status, whyNotKept)
                : new ShownIndex(record, null, null, TypeOf(record.Definition), status, whyNotKept);
        }
        catch (Exception unread) when (unread is IndexDefinitionException or JsonException or InvalidOperationException)
        {
            // Of another program; that it is not kept, and why, is said all the same.
            return new ShownIndex(record, null, null, "None", status, whyNotKept);
        }
    }

    // Without compiling its texts, because many may be listed.
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

using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>The status of an index of this node when it was read.</summary>
public sealed record IndexStatus
{
    /// <summary>The definition and settings of the index.</summary>
    public required IndexRecord Record { get; init; }

    /// <summary>The name of the index.</summary>
    public string Name => Record.Name;

    /// <summary>The number of the definition.</summary>
    public long Number => Record.Number;

    /// <summary>The collections that the index maps; empty for all.</summary>
    public required IReadOnlyList<string> Collections { get; init; }

    /// <summary>The collections of documents that the map loads.</summary>
    public required IReadOnlyList<string> LoadedCollections { get; init; }

    /// <summary>Whether the index maps counters of documents instead of the documents.</summary>
    public bool ReadsCounters { get; init; }

    /// <summary>Whether the index runs, and if not, why.</summary>
    public required IndexState State { get; init; }

    /// <summary>Why the index does not advance, in a sentence; null if it does.</summary>
    public string? Trouble { get; init; }

    /// <summary>The results include all changes of documents through this etag.</summary>
    public required long VisibleEtag { get; init; }

    /// <summary>
    /// The etag through which an index that is up to date includes all changes, at the time of this status.
    /// </summary>
    public required long LastEtag { get; init; }

    /// <summary>Whether a rebuild was requested and has not begun.</summary>
    public required bool IsResetRequested { get; init; }

    /// <summary>
    /// Whether the results lack recent changes or include a part of a transaction, or a requested rebuild has not
    /// begun. Without the last condition, a client that resets an index and waits would take the old results for new.
    /// </summary>
    public bool IsStale => VisibleEtag < LastEtag || IsPartial || IsResetRequested;

    /// <summary>Whether the results are known to include a part of the changes after their etag.</summary>
    public bool IsPartial { get; init; }

    /// <summary>Whether the index is being built to replace the serving index of the same name.</summary>
    public required bool IsReplacement { get; init; }

    /// <summary>Number of documents in the index.</summary>
    public required long Documents { get; init; }

    /// <summary>Number of errors since the index was opened or its errors were cleared.</summary>
    public required long ErrorCount { get; init; }

    /// <summary>When the index was last written; null if it was not written since the node started.</summary>
    public DateTimeOffset? LastIndexed { get; init; }

    /// <summary>How far the index has caught up.</summary>
    public required IndexProgress Progress { get; init; }

    /// <summary>Reads the status of an index.</summary>
    /// <param name="index">The index.</param>
    /// <param name="lastEtag">The etag through which an index that is up to date includes all changes.</param>
    /// <param name="progress">How far the index has caught up.</param>
    /// <param name="trouble">Why the index does not advance, in a sentence; null if it does.</param>
    internal static IndexStatus Of(RunningIndex index, long lastEtag, in IndexProgress progress, string? trouble)
    {
        return new IndexStatus
        {
            Record = index.Record,
            Collections = index.Map.Collections,
            LoadedCollections = index.Map.LoadedCollections,
            ReadsCounters = index.Map.ReadsCounters,
            State = index.State,
            Trouble = trouble,
            VisibleEtag = index.VisibleEtag,
            IsPartial = index.Visible.Published.IsPartial,
            LastEtag = lastEtag,
            IsResetRequested = index.IsResetRequested,
            IsReplacement = index.IsReplacement,
            Documents = index.Documents,
            ErrorCount = index.Errors.Count,
            LastIndexed = index.LastIndexed,
            Progress = index.State == IndexState.Normal ? progress : progress with { TimeLeft = null },
        };
    }
}

using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>How an index of this node is at one moment.</summary>
public sealed record IndexStatus
{
    /// <summary>Its definition, and how it is kept.</summary>
    public required IndexRecord Record { get; init; }

    /// <summary>Its name.</summary>
    public string Name => Record.Name;

    /// <summary>The number of its definition.</summary>
    public long Number => Record.Number;

    /// <summary>The collections whose documents it is of; empty for all.</summary>
    public required IReadOnlyList<string> Collections { get; init; }

    /// <summary>The collections whose documents it loads.</summary>
    public required IReadOnlyList<string> LoadedCollections { get; init; }

    /// <summary>What it does.</summary>
    public required IndexState State { get; init; }

    /// <summary>Why it does not do what it should, in a sentence; null when it does.</summary>
    public string? Trouble { get; init; }

    /// <summary>The etag through which its answers follow the documents.</summary>
    public required long VisibleEtag { get; init; }

    /// <summary>The etag of the last operation on the database when this was read.</summary>
    public required long LastEtag { get; init; }

    /// <summary>Whether there are documents that it has not looked at.</summary>
    public bool IsStale => VisibleEtag < LastEtag;

    /// <summary>Whether it is built beside an index of its name, whose place it takes when it has caught up.</summary>
    public required bool IsReplacement { get; init; }

    /// <summary>Documents that it holds.</summary>
    public required long Documents { get; init; }

    /// <summary>Documents that it could not take since it was built.</summary>
    public required long ErrorCount { get; init; }

    /// <summary>When it last took something; null when it did not since the node started.</summary>
    public DateTimeOffset? LastIndexed { get; init; }

    /// <summary>How far it is.</summary>
    public required IndexProgress Progress { get; init; }
}

using System.Text.Json.Serialization;

namespace Rookery.Histories;

/// <summary>What a client asked.</summary>
public enum OperationKind
{
    /// <summary>What has this document?</summary>
    Get,

    /// <summary>Give it this value, whatever it has.</summary>
    Put,

    /// <summary>Give it this value, if it has the expected one.</summary>
    CompareAndSet,

    /// <summary>Read lists, then append to lists, all at one point of time.</summary>
    Transaction,
}

/// <summary>What the client was told.</summary>
public enum Outcome
{
    /// <summary>It was done.</summary>
    Done,

    /// <summary>It was not done and never will be. For a compare-and-set: the document had another value.</summary>
    Refused,

    /// <summary>No answer came, or one that leaves it open: it was done, or will be, or never.</summary>
    Unknown,
}

/// <summary>A list as a transaction read it.</summary>
/// <param name="Key">The document.</param>
/// <param name="Elements">All its elements, in order.</param>
public sealed record ListRead(string Key, IReadOnlyList<long> Elements);

/// <summary>An element that a transaction appended.</summary>
/// <param name="Key">The document.</param>
/// <param name="Element">Not appended by any other transaction of the history.</param>
public sealed record ListAppend(string Key, long Element);

/// <summary>
/// One operation of one client. A history has those of one database, on one clock; a line of JSON each in a file.
/// </summary>
public sealed record Operation
{
    /// <summary>Who asked; for people who read the history.</summary>
    public int Client { get; init; }

    /// <summary>When it was asked; in any unit, on a clock that all clients share and that never runs back.</summary>
    public required long Invoked { get; init; }

    /// <summary>When its answer came. Means nothing while the outcome is unknown.</summary>
    public long Completed { get; init; }

    /// <summary>What was asked.</summary>
    public required OperationKind Kind { get; init; }

    /// <summary>What became of it.</summary>
    public required Outcome Outcome { get; init; }

    /// <summary>The document; empty for transactions.</summary>
    public string Key
    {
        get => field ?? "";
        init;
    }

    /// <summary>
    /// The value written, which no other operation writes, or the one read. 0 for a document that is not there.
    /// </summary>
    public long Value { get; init; }

    /// <summary>The value that a compare-and-set expected.</summary>
    public long Expected { get; init; }

    /// <summary>
    /// The etag of what was written or read, or that a refused compare-and-set found; 0 for a document that is not
    /// there.
    /// </summary>
    public long Etag { get; init; }

    /// <summary>The lists that a transaction read, before its own appends.</summary>
    public IReadOnlyList<ListRead> Reads
    {
        get => field ?? [];
        init;
    }

    /// <summary>What a transaction appended.</summary>
    public IReadOnlyList<ListAppend> Appends
    {
        get => field ?? [];
        init;
    }

    /// <summary>When it had certainly taken place: never, for an unknown outcome.</summary>
    [JsonIgnore]
    public long Ended => Outcome == Outcome.Unknown ? long.MaxValue : Completed;

    /// <summary>Whether it may have written something.</summary>
    [JsonIgnore]
    public bool Writes =>
        Outcome != Outcome.Refused && (Kind is OperationKind.Put or OperationKind.CompareAndSet || Appends.Count > 0);

    /// <summary>The operation as a sentence's subject.</summary>
    public override string ToString() =>
        $"{Kind} {Key} {(Kind == OperationKind.CompareAndSet ? $"{Expected}→" : "")}{Value} ({Outcome}, etag "
        + $"{Etag}, client {Client}, {Invoked} to {(Outcome == Outcome.Unknown ? "?" : Completed)})";
}

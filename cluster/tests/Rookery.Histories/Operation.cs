using System.Text.Json.Serialization;

namespace Rookery.Histories;

/// <summary>The kind of a client's operation.</summary>
public enum OperationKind
{
    /// <summary>Reads a document.</summary>
    Get,

    /// <summary>Sets a document's value.</summary>
    Put,

    /// <summary>Sets a document's value if it has the expected one.</summary>
    CompareAndSet,

    /// <summary>Adds 1 to a document's value, and answers with the sum.</summary>
    Increment,

    /// <summary>Reads lists, then appends to lists, atomically.</summary>
    Transaction,
}

/// <summary>The answer to a client.</summary>
public enum Outcome
{
    /// <summary>The operation was done.</summary>
    Done,

    /// <summary>
    /// The operation was not done and never will be. For a compare-and-set: the document had another value.
    /// </summary>
    Refused,

    /// <summary>There was no definite answer: the operation was done, will be done, or will never be done.</summary>
    Unknown,
}

/// <summary>A list as a transaction read it.</summary>
/// <param name="Key">The document.</param>
/// <param name="Elements">All its elements, in order.</param>
public sealed record ListRead(string Key, IReadOnlyList<long> Elements);

/// <summary>An element that a transaction appended.</summary>
/// <param name="Key">The document.</param>
/// <param name="Element">The element, appended by no other transaction of the history.</param>
public sealed record ListAppend(string Key, long Element);

/// <summary>
/// One operation of one client. A history contains the operations on one database, with the times of one clock.
/// </summary>
public sealed record Operation
{
    /// <summary>The etag of operations whose protocol tells none.</summary>
    public const long NoEtag = -1;

    /// <summary>The client's number, for readers of the history.</summary>
    public int Client { get; init; }

    /// <summary>The time of the request, in any unit, on a monotonic clock that all clients share.</summary>
    public required long Invoked { get; init; }

    /// <summary>The time of the answer. Meaningless if the outcome is unknown.</summary>
    public long Completed { get; init; }

    /// <summary>The kind of the operation.</summary>
    public required OperationKind Kind { get; init; }

    /// <summary>The outcome.</summary>
    public required Outcome Outcome { get; init; }

    /// <summary>The document; empty for transactions.</summary>
    public string Key
    {
        get => field ?? "";
        init;
    }

    /// <summary>
    /// The value written, which no other operation with an etag writes, or the value read. 0 for a missing document.
    /// </summary>
    public long Value { get; init; }

    /// <summary>The value that a compare-and-set expected.</summary>
    public long Expected { get; init; }

    /// <summary>
    /// The etag of the written or read version, or of the version that a refused compare-and-set found. 0 for a missing
    /// document, <see cref="NoEtag"/> without one.
    /// </summary>
    public long Etag { get; init; }

    /// <summary>The lists that a transaction read, before its own appends.</summary>
    public IReadOnlyList<ListRead> Reads
    {
        get => field ?? [];
        init;
    }

    /// <summary>The elements that a transaction appended.</summary>
    public IReadOnlyList<ListAppend> Appends
    {
        get => field ?? [];
        init;
    }

    /// <summary>The latest time at which it took place; the maximum value for an unknown outcome.</summary>
    [JsonIgnore]
    public long Ended => Outcome == Outcome.Unknown ? long.MaxValue : Completed;

    /// <summary>Whether it may have written something.</summary>
    [JsonIgnore]
    public bool Writes => Outcome != Outcome.Refused && (WritesValue || Appends.Count > 0);

    /// <summary>Whether its kind changes the value of a document.</summary>
    [JsonIgnore]
    public bool WritesValue => Kind is OperationKind.Put or OperationKind.CompareAndSet or OperationKind.Increment;

    /// <summary>Describes the operation, as the subject of a sentence.</summary>
    public override string ToString() =>
        $"{Kind} {Key} {(Kind == OperationKind.CompareAndSet ? $"{Expected}→" : "")}{Value} ({Outcome}, etag "
        + $"{Etag}, client {Client}, {Invoked} to {(Outcome == Outcome.Unknown ? "?" : Completed)})";
}

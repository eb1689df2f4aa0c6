using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>A query as it is asked: its text, not yet read, and what the client says beside it.</summary>
/// <param name="Text">What is asked.</param>
/// <param name="Parameters">The object of its parameters, as JSON.</param>
/// <param name="Start">How many results to leave out at least.</param>
/// <param name="PageSize">How many results to give at most.</param>
/// <param name="Wait">How long to wait for an index that is behind, after which the query is refused; null when an
/// answer that is stale will do.</param>
public sealed record QueryRequest(string Text, byte[] Parameters, long Start, long PageSize, TimeSpan? Wait)
{
    /// <summary>Characters of a query's text, at most: values belong into parameters.</summary>
    public const int MaxTextLength = 256 << 10;

    // A condition of ten characters becomes some objects, and a value of two characters at least two.
    private const int BytesPerCharacter = 48;

    // A text of three bytes of JSON becomes an object of 32 and its place in a list.
    private const int BytesPerByteOfParameters = 12;

    /// <summary>How long a query waits that asks to and does not say how long: as RavenDB's clients have it.</summary>
    public static readonly TimeSpan UsualWait = TimeSpan.FromSeconds(15);

    /// <summary>
    /// Whether the answer says how long its parts took, as after <c>include timings()</c>: for programs that leave the
    /// text as its author wrote it, so that errors name its own lines and columns.
    /// </summary>
    public bool IncludesTimings { get; init; }

    /// <summary>Where a selection reads fields from.</summary>
    public ProjectionBehavior Projecting { get; init; }

    /// <summary>Memory that the query takes once it is read, at most, in bytes.</summary>
    public long HeldBytes =>
        ((long)BytesPerCharacter * Text.Length) + ((long)BytesPerByteOfParameters * Parameters.Length);
}

using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>A query as the client sends it: its text, not yet parsed, and the options of the request.</summary>
/// <param name="Text">The text of the query.</param>
/// <param name="Parameters">The parameters, a JSON object.</param>
/// <param name="Start">Results to skip; the greater of this and the text's offset applies.</param>
/// <param name="PageSize">Results to return, at most; <see cref="long.MaxValue"/> for no limit.</param>
/// <param name="Wait">How long to wait for a lagging index before the query is refused; null if a stale answer is
/// acceptable.</param>
public sealed record QueryRequest(string Text, byte[] Parameters, long Start, long PageSize, TimeSpan? Wait)
{
    /// <summary>Maximum characters of a query's text. Send large values as parameters.</summary>
    public const int MaxTextLength = 256 << 10;

    // Estimated memory of the parsed query for each character. A condition of ten characters becomes several objects.
    private const int BytesPerCharacter = 48;

    // Estimated memory for each byte of parameters. A text of three bytes becomes an object of 32 bytes and a
    // reference.
    private const int BytesPerByteOfParameters = 12;

    /// <summary>
    /// Time to wait for a lagging index if the client asks to wait and gives no time, as in RavenDB's clients.
    /// </summary>
    public static readonly TimeSpan DefaultWait = TimeSpan.FromSeconds(15);

    /// <summary>
    /// Whether the answer reports how long its parts took, like <c>include timings()</c>. A program sets this instead
    /// of changing the text, so that errors show the lines and columns of the author's text.
    /// </summary>
    public bool IncludesTimings { get; init; }

    /// <summary>Where <c>select</c> reads fields from: the index, the document, or both.</summary>
    public ProjectionBehavior Projecting { get; init; }

    /// <summary>Whether a document is a result for each of its entries in a static index that match.</summary>
    public bool SkipsDuplicateChecking { get; init; }

    /// <summary>Upper estimate of the parsed query's memory, in bytes.</summary>
    public long HeldBytes =>
        ((long)BytesPerCharacter * Text.Length) + ((long)BytesPerByteOfParameters * Parameters.Length);
}

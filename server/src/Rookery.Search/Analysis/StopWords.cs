using System.Collections.Frozen;

namespace Rookery.Search.Analysis;

/// <summary>
/// Words so common in English that they say nothing: those that Lucene's, and so RavenDB's, analyzers leave out.
/// </summary>
internal static class StopWords
{
    private static readonly FrozenSet<ulong> Words = new[]
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    }
        .Select(static word => Pack(System.Text.Encoding.ASCII.GetBytes(word)))
        .ToFrozenSet();

    /// <summary>Whether a word in lower case is one of them.</summary>
    internal static bool Contain(ReadOnlySpan<byte> word) => word.Length <= sizeof(ulong) && Words.Contains(Pack(word));

    private static ulong Pack(ReadOnlySpan<byte> word)
    {
        ulong packed = 0;
        foreach (byte letter in word)
        {
            packed = (packed << 8) | letter;
        }

        return packed;
    }
}

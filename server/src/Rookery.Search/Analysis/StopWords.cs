using System.Collections.Frozen;

namespace Rookery.Search.Analysis;

/// <summary>The English stop words that Lucene's and RavenDB's analyzers remove.</summary>
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

    /// <summary>Returns whether a lower-case word is a stop word.</summary>
    internal static bool Contains(ReadOnlySpan<byte> word) =>
        word.Length <= sizeof(ulong) && Words.Contains(Pack(word));

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

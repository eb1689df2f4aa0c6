using Rookery.Platform;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// The highest frequency and the smallest length among postings. Together they give an upper bound of the score that
/// one of the postings contributes; often no single entry has both.
/// </summary>
/// <param name="MaxFrequency">The highest frequency.</param>
/// <param name="MinLength">The smallest length of an entry, in tokens.</param>
public readonly record struct Impact(int MaxFrequency, int MinLength)
{
    /// <summary>The impact of no postings.</summary>
    public static Impact None => new(MaxFrequency: 0, int.MaxValue);

    /// <summary>Returns the impact with one more posting.</summary>
    public Impact Combine(int frequency, int length)
    {
        Invariant.Holds(frequency > 0, "the frequency of a posting is at least 1");
        return new Impact(Math.Max(MaxFrequency, frequency), Math.Min(MinLength, length));
    }

    /// <summary>Returns the impact of both.</summary>
    public Impact Combine(Impact other) =>
        new(Math.Max(MaxFrequency, other.MaxFrequency), Math.Min(MinLength, other.MinLength));
}

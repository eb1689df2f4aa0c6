using Rookery.Platform;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Upper bound of the score that postings of a block contribute, as the highest frequency and the smallest length among
/// them. Often no single entry has both.
/// </summary>
/// <param name="MostOften">The highest frequency.</param>
/// <param name="Shortest">The smallest length of an entry, in tokens.</param>
public readonly record struct Impact(int MostOften, int Shortest)
{
    /// <summary>The impact of no postings.</summary>
    public static Impact None => new(MostOften: 0, int.MaxValue);

    /// <summary>Returns the impact with one more posting.</summary>
    public Impact With(int frequency, int length)
    {
        Invariant.Holds(frequency > 0, "a term stands at least once where it stands");
        return new Impact(Math.Max(MostOften, frequency), Math.Min(Shortest, length));
    }

    /// <summary>Returns the impact of both.</summary>
    public Impact With(Impact other) => new(Math.Max(MostOften, other.MostOften), Math.Min(Shortest, other.Shortest));
}

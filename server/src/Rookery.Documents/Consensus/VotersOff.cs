namespace Rookery.Documents.Consensus;

/// <summary>Says what follows when voters of a cluster of three or more are off.</summary>
public static class VotersOff
{
    /// <summary>Returns a sentence about how many further voters may be off.</summary>
    /// <param name="voters">Number of voters, at least three.</param>
    /// <param name="off">Number of voters that are off, at least one.</param>
    public static string Describe(int voters, int off)
    {
        int more = ((voters - 1) / 2) - off;
        string consequence = more switch
        {
            > 0 => $"with {more} more off, writes go on.",
            0 => "when another is off, nothing is written.",
            _ => "nothing is written.",
        };
        string are = off == 1 ? "is" : "are";
        return $"{voters} members vote, and {off} of them {are} off: {consequence}";
    }
}

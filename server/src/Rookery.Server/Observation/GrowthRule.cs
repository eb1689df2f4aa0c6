namespace Rookery.Server.Observation;

/// <summary>
/// Decides whether new data can be written: a majority of the voters must answer and have free space. A pure function.
/// </summary>
internal static class GrowthRule
{
    /// <summary>Whether the node has less free space than its reserve.</summary>
    public static bool IsFull(LiveNode node) => node.SpareBytes < 0;

    /// <summary>
    /// Returns why new data cannot be written, with the consequence first. Null if new data can be written. Also null
    /// if no majority answers: the reason is then not space, and <see cref="HealthRule"/> reports it.
    /// </summary>
    public static string? WhyRefused(LiveCluster cluster)
    {
        LiveNode[] voters = [.. cluster.Nodes.Where(static node => node.IsVoter)];
        LiveNode[] full = [.. voters.Where(static node => node.State != NodeState.Down && IsFull(node))];
        int answering = voters.Count(static node => node.State != NodeState.Down);
        return full.Length == 0 || answering < cluster.Majority || answering - full.Length >= cluster.Majority
            ? null
            : $"Nothing new can be written: {DescribeFullCards(cluster, voters, full)}. Documents can be read and "
                + $"deleted; free some space, or give {DescribeRemedy(full)}.";
    }

    private static string DescribeRemedy(LiveNode[] full)
    {
        if (full.Length > 1)
        {
            return "them larger cards";
        }

        return full[0].FullJournalDirectory is null ? "it a larger card" : "the journal a larger device";
    }

    private static string DescribeFullCards(LiveCluster cluster, LiveNode[] voters, LiveNode[] full)
    {
        if (cluster.IsAlone)
        {
            return full[0].FullJournalDirectory is { } directory
                ? $"the file system of this node's journal, in {directory}, is full"
                : "this node's card is full";
        }

        string others =
            full.Length < voters.Length && voters.Any(static node => node.State == NodeState.Down)
                ? ", and others do not answer"
                : string.Empty;
        if (full.Length == voters.Length)
        {
            if (voters is [{ FullJournalDirectory: { } own }])
            {
                return $"the file system of the journal of {full[0].DisplayName}, the only voter, in {own}, is full";
            }

            if (voters.Length == 1)
            {
                return $"the card of {full[0].DisplayName}, the only voter, is full";
            }

            if (voters.Length == 2)
            {
                return "both cards are full";
            }

            return $"all {voters.Length} cards are full";
        }

        if (full is [{ FullJournalDirectory: { } journal }])
        {
            return $"the file system of the journal of {full[0].DisplayName}, in {journal}, is full{others}";
        }

        return $"{(full.Length == 1 ? "the card of" : "the cards of")} {JoinNames(full)} "
            + $"{(full.Length == 1 ? "is" : "are")} full{others}";
    }

    private static string JoinNames(LiveNode[] nodes) =>
        nodes.Length == 1
            ? nodes[0].DisplayName
            : $"{string.Join(", ", nodes[..^1].Select(static node => node.DisplayName))} and {nodes[^1].DisplayName}";
}

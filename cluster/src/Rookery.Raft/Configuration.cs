namespace Rookery.Raft;

/// <summary>
/// The members of the cluster. A configuration is in force as soon as its entry is appended, committed or not (thesis
/// 4.1). A change adds or removes at most one voter, so any majority of one configuration overlaps any majority of the
/// next.
/// </summary>
public sealed class Configuration
{
    /// <summary>
    /// The maximum number of voters. Five tolerate two failures. More voters would make each commit wait for more
    /// disks.
    /// </summary>
    public const int MaxVoters = 5;

    private readonly NodeId[] _voters;
    private readonly NodeId[] _learners;

    private Configuration(NodeId[] voters, NodeId[] learners) => (_voters, _learners) = (voters, learners);

    /// <summary>The configuration of a node that has received none yet: no members and no majority.</summary>
    public static Configuration Empty { get; } = new([], []);

    /// <summary>The members that count for majorities and may lead, in order of their ids.</summary>
    public ReadOnlySpan<NodeId> Voters => _voters;

    /// <summary>The members that receive all entries but do not count for majorities, in order of their ids.</summary>
    public ReadOnlySpan<NodeId> Learners => _learners;

    /// <summary>The number of voters in a majority; <see cref="int.MaxValue"/> when there are no voters.</summary>
    public int Majority => _voters.Length == 0 ? int.MaxValue : (_voters.Length / 2) + 1;

    /// <summary>Makes a configuration of the given members.</summary>
    /// <exception cref="ConsensusException">There are no voters or more than <see cref="MaxVoters"/>, or a member
    /// occurs twice.</exception>
    public static Configuration Of(IEnumerable<NodeId> voters, IEnumerable<NodeId> learners)
    {
        NodeId[] voting = [.. voters.Order()];
        NodeId[] learning = [.. learners.Order()];
        ConsensusException.Unless(voting.Length is > 0 and <= MaxVoters, "a configuration has one to five voters");
        ConsensusException.Unless(
            voting.Concat(learning).Distinct().Count() == voting.Length + learning.Length,
            "a member occurs once in a configuration"
        );
        ConsensusException.Unless(!voting.Concat(learning).Contains(NodeId.None), "a member has an id");
        return new Configuration(voting, learning);
    }

    /// <summary>Whether <paramref name="node"/> is a voter.</summary>
    public bool IsVoter(NodeId node) => Array.BinarySearch(_voters, node) >= 0;

    /// <summary>Whether <paramref name="node"/> is a learner.</summary>
    public bool IsLearner(NodeId node) => Array.BinarySearch(_learners, node) >= 0;

    /// <summary>Whether <paramref name="node"/> is a voter or a learner.</summary>
    public bool IsMember(NodeId node) => IsVoter(node) || IsLearner(node);

    /// <summary>Returns this configuration with <paramref name="node"/> as a learner, added or demoted.</summary>
    public Configuration WithLearner(NodeId node) =>
        Of(_voters.Where(voter => voter != node), _learners.Where(learner => learner != node).Append(node));

    /// <summary>Returns this configuration with <paramref name="node"/> as a voter.</summary>
    public Configuration WithVoter(NodeId node) =>
        Of(_voters.Append(node), _learners.Where(learner => learner != node));

    /// <summary>Returns this configuration without <paramref name="node"/>.</summary>
    public Configuration Without(NodeId node) =>
        Of(_voters.Where(voter => voter != node), _learners.Where(learner => learner != node));

    /// <summary>Lists the members, voters first.</summary>
    public override string ToString() => $"voters {string.Join(' ', _voters)}; learners {string.Join(' ', _learners)}";
}

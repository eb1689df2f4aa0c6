namespace Rookery.Raft;

/// <summary>
/// Who belongs to the cluster. In force from the moment its entry is appended, committed or not (thesis 4.1), and
/// changed by one voter at a time, so that any majority of one configuration meets any majority of the next.
/// </summary>
public sealed class Configuration
{
    /// <summary>
    /// The most voters: five bear the loss of two, and more only make each commit wait for more cards.
    /// </summary>
    public const int MostVoters = 5;

    private readonly NodeId[] _voters;
    private readonly NodeId[] _learners;

    private Configuration(NodeId[] voters, NodeId[] learners) => (_voters, _learners) = (voters, learners);

    /// <summary>Nobody: a node that was not yet told of a cluster. It has no quorum.</summary>
    public static Configuration Empty { get; } = new([], []);

    /// <summary>Members whose durable frames make a majority and who may lead, in order of their ids.</summary>
    public ReadOnlySpan<NodeId> Voters => _voters;

    /// <summary>Members that receive everything and are not counted, in order of their ids.</summary>
    public ReadOnlySpan<NodeId> Learners => _learners;

    /// <summary>How many voters make a majority. Of no voters there is none: an empty set is no quorum.</summary>
    public int Majority => _voters.Length == 0 ? int.MaxValue : (_voters.Length / 2) + 1;

    /// <summary>A configuration of these members.</summary>
    /// <exception cref="ConsensusException">There are no voters or more than <see cref="MostVoters"/>, or somebody is
    /// named twice.</exception>
    public static Configuration Of(IEnumerable<NodeId> voters, IEnumerable<NodeId> learners)
    {
        NodeId[] voting = [.. voters.Order()];
        NodeId[] learning = [.. learners.Order()];
        ConsensusException.Unless(voting.Length is > 0 and <= MostVoters, "a configuration has one to five voters");
        ConsensusException.Unless(
            voting.Concat(learning).Distinct().Count() == voting.Length + learning.Length,
            "a member has one part in a configuration"
        );
        ConsensusException.Unless(!voting.Concat(learning).Contains(NodeId.None), "a member has an id");
        return new Configuration(voting, learning);
    }

    /// <summary>Whether <paramref name="node"/> is counted.</summary>
    public bool IsVoter(NodeId node) => Array.BinarySearch(_voters, node) >= 0;

    /// <summary>Whether <paramref name="node"/> receives and is not counted.</summary>
    public bool IsLearner(NodeId node) => Array.BinarySearch(_learners, node) >= 0;

    /// <summary>Whether <paramref name="node"/> has any part.</summary>
    public bool IsMember(NodeId node) => IsVoter(node) || IsLearner(node);

    /// <summary>This one and <paramref name="node"/> as a learner; a voter becomes one.</summary>
    public Configuration WithLearner(NodeId node) =>
        Of(_voters.Where(voter => voter != node), _learners.Where(learner => learner != node).Append(node));

    /// <summary>This one with <paramref name="node"/> as a voter.</summary>
    public Configuration WithVoter(NodeId node) =>
        Of(_voters.Append(node), _learners.Where(learner => learner != node));

    /// <summary>This one without <paramref name="node"/>.</summary>
    public Configuration Without(NodeId node) =>
        Of(_voters.Where(voter => voter != node), _learners.Where(learner => learner != node));

    /// <summary>The members, voters first.</summary>
    public override string ToString() => $"voters {string.Join(' ', _voters)}; learners {string.Join(' ', _learners)}";
}

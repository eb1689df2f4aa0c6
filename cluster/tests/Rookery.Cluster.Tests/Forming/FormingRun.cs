using System.Globalization;
using Rookery.Cluster.Forming;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>A mistake planted in a node, to show that the run finds it.</summary>
public enum FormingMistake
{
    /// <summary>No mistake.</summary>
    None,

    /// <summary>The node's notes on disk are not synced.</summary>
    NotDurable,

    /// <summary>A node vows to join a second founder before the first has released it.</summary>
    TwoVows,

    /// <summary>A founder stops answering once it has admitted all members.</summary>
    SilentFounder,
}

/// <summary>
/// A simulation of nodes that form a cluster, on one thread. Real state machines run on simulated disks that lose
/// unsynced data. Calls and answers are lost or late, power cuts happen even within a write, and disks fail. At the end
/// all faults stop. Every answer is checked: no node may be a member of two founders' clusters.
/// </summary>
internal sealed class FormingRun
{
    private const int FaultyRounds = 40;
    private const int SoundRounds = 40;

    // After a restart a node replays its journal, for fewer rounds than this. Until then it does not know whether it
    // was claimed.
    private const int ReplayRounds = 3;
    private const string Directory = "/data";

    private readonly Random _random;
    private readonly int _expect;
    private readonly FormingMistake _mistake;
    private readonly bool _isOneClaimed;
    private readonly SimulatedTimeProvider _time = new();
    private readonly SimulatedCard[] _cards;
    private readonly List<(SimulatedCard To, FormingCall Call)> _late = [];
    private readonly Dictionary<string, string[]> _foundings = new(StringComparer.Ordinal);

    // The probabilities that a call or an answer is lost, and that power is cut, while faults happen.
    private double _loss;
    private double _cuts;

    /// <summary>Makes a run.</summary>
    /// <param name="seed">The seed of all faults.</param>
    /// <param name="expect">The number of nodes that the cluster is to have.</param>
    /// <param name="cards">The number of nodes that are switched on while faults happen.</param>
    /// <param name="mistake">The planted mistake.</param>
    /// <param name="isOneClaimed">Whether a user claims one of the nodes during the run.</param>
    /// <param name="later">The number of further nodes, which are switched on after the faults.</param>
    public FormingRun(
        int seed,
        int expect,
        int cards,
        FormingMistake mistake = FormingMistake.None,
        bool isOneClaimed = false,
        int later = 0
    )
    {
        _random = new Random(seed);
        _expect = expect;
        _mistake = mistake;
        _isOneClaimed = isOneClaimed;
        _loss = _random.NextDouble() * 0.6;
        _cuts = _random.NextDouble() * 0.15;
        _cards =
        [
            .. Enumerable
                .Range(0, cards + later)
                .Select(index => new SimulatedCard(
                    string.Create(CultureInfo.InvariantCulture, $"node{index:00}nodenodenodenode")[..22],
                    $"pi-{index}"
                )),
        ];
        foreach (var card in _cards.Skip(cards))
        {
            card.OnFrom = FaultyRounds + SoundRounds;
        }

        foreach (var card in _cards.Take(cards))
        {
            // Some nodes are switched on late.
            card.OnFrom = _random.Next(3) == 0 ? _random.Next(FaultyRounds) : 0;
        }

        if (isOneClaimed)
        {
            _cards[_random.Next(cards)].ClaimedFrom = _random.Next(FaultyRounds);
        }
    }

    /// <summary>The kinds of events of the run.</summary>
    public HashSet<string> Seen { get; } = new(StringComparer.Ordinal);

    /// <summary>The final state of each node.</summary>
    public IReadOnlyList<FormingNote> Ends => [.. _cards.Select(static card => card.Node!.Note)];

    /// <summary>Runs the simulation.</summary>
    public void Run()
    {
        for (int round = 0; round < FaultyRounds; round++)
        {
            foreach (var card in ShuffleCards().Where(card => round >= card.OnFrom))
            {
                if (_random.NextDouble() < _cuts)
                {
                    CutPower(card, card.Disk.OperationCount);
                }

                Claim(card, round);
                DoRound(card);
            }

            foreach (var (to, call) in _late.ToArray().Where(late => late.To.IsOn && _random.Next(3) == 0))
            {
                _late.Remove((to, call));
                Ask(to, call);
            }

            _time.Advance(TimeSpan.FromSeconds(3));
        }

        (_loss, _cuts) = (0, 0);
        for (int round = FaultyRounds; round < FaultyRounds + (2 * SoundRounds); round++)
        {
            foreach (var card in _cards.Where(card => round >= card.OnFrom))
            {
                DoRound(card);
            }

            if (_mistake == FormingMistake.SilentFounder && round == FaultyRounds + SoundRounds - 1)
            {
                foreach (var card in _cards)
                {
                    card.IsSilent = card is { Node.Note.Step: FormingStep.Founded };
                }
            }

            _time.Advance(TimeSpan.FromSeconds(3));
        }
    }

    private void DoRound(SimulatedCard card)
    {
        Open(card);
        if (card.RoundsToReplay > 0)
        {
            card.RoundsToReplay--;
            return;
        }

        // As in FormingLoop, the first decision uses only the node's own state.
        if (!card.HasBegun && !(card.HasBegun = Try(card, () => card.Node!.Conclude([]))))
        {
            return;
        }

        if (card.Node is not { Note.Step: FormingStep.Open or FormingStep.Candidate or FormingStep.Vowed } node)
        {
            return;
        }

        // As in FormingLoop, a new vow is sent immediately.
        for (int part = 0; part < 2; part++)
        {
            List<FormingAnswer> answers = [];
            foreach (var other in _cards.Where(other => other != card && other.IsOn))
            {
                var call = node.CallTo(other.NodeId);
                if (_random.NextDouble() < _loss)
                {
                    if (_random.Next(4) == 0)
                    {
                        Seen.Add("late");
                        _late.Add((other, call));
                    }

                    continue;
                }

                if (Ask(other, call) is { } answer && _random.NextDouble() >= _loss)
                {
                    answers.Add(answer);
                }
            }

            var before = node.Note;
            if (!Try(card, () => node.Conclude(answers)))
            {
                return;
            }

            Seen.Add($"{before.Step} to {node.Note.Step}");
            if (_mistake == FormingMistake.TwoVows && node.Note.Step == FormingStep.Vowed && _random.Next(4) == 0)
            {
                card.Disk.Delete(FormingNote.PathIn(Directory));
                card.Node = null;
                Open(card);
                return;
            }
        }
    }

    /// <summary>Asks a node, and adds a token for a recorded member, as FormingRoute does. Null when there was no
    /// answer.</summary>
    private FormingAnswer? Ask(SimulatedCard card, FormingCall call)
    {
        var node = card.Node!;
        FormingAnswer? answer = null;
        if (!Try(card, () => answer = node.Answer(call)))
        {
            return null;
        }

        if (answer is null)
        {
            Seen.Add("not answered yet");
            return null;
        }

        Assert.False(
            card.IsClaimedFirst && answer.Step == FormingStep.Founded,
            $"{card.NodeId} was claimed, and founds"
        );
        if (!answer.Members.Contains(call.NodeId, StringComparer.Ordinal))
        {
            return answer;
        }

        string[] members = [card.NodeId, .. answer.Members];
        Assert.Equal(_expect, members.Distinct(StringComparer.Ordinal).Count());
        if (!_foundings.TryAdd(answer.Candidacy!, members))
        {
            Assert.Equal(_foundings[answer.Candidacy!], members);
        }

        foreach (string member in members)
        {
            Assert.True(
                _foundings.Values.Count(founding => founding.Contains(member, StringComparer.Ordinal)) == 1,
                $"{member} is a member of the clusters of two founders"
            );
        }

        return answer with
        {
            Token = card.NodeId,
        };
    }

    private void CutPower(SimulatedCard card, int operation)
    {
        Seen.Add("power cut");
        card.Disk = card.Disk.CrashAt(operation, _random.Next());
        card.Node = null;
    }

    private void Open(SimulatedCard card)
    {
        if (card.Node is null)
        {
            var disk =
                _mistake == FormingMistake.NotDurable
                    ? new SyncSkippingDisk(
                        card.Disk,
                        static path => string.Equals(path, Directory, StringComparison.Ordinal)
                    )
                    : (IDisk)card.Disk;
            card.Node = new FormingNode(
                disk,
                Directory,
                new FormingSelf(card.NodeId, card.Name, "home", _expect),
                () => !card.IsKnownAsClaimed,
                _time
            );
            card.HasBegun = false;
            if (_isOneClaimed)
            {
                card.RoundsToReplay = _random.Next(ReplayRounds);
            }
            else
            {
                // There is no journal to replay.
                card.Node.Conclude([]);
                card.HasBegun = true;
            }
        }
    }

    /// <summary>
    /// Claims the node. The claim takes effect immediately; after a restart the node knows it once the journal is
    /// replayed.
    /// </summary>
    private static void Claim(SimulatedCard card, int round)
    {
        if (
            round >= card.ClaimedFrom
            && !card.IsClaimed
            && card is { RoundsToReplay: 0, Node.Note.Step: var step and not FormingStep.Admitted }
        )
        {
            (card.IsClaimed, card.IsClaimedFirst) = (true, step != FormingStep.Founded);
        }
    }

    /// <summary>Runs an action; false when the disk failed or power was lost before it completed.</summary>
    private bool Try(SimulatedCard card, Action action)
    {
        int before = card.Disk.OperationCount;
        if (_random.NextDouble() < _loss / 10)
        {
            card.Disk.Inject(new DiskFault(_random.Next(1, 6), Errno.InputOutput) { Calls = DiskCalls.Changing });
        }

        try
        {
            action();
            if (card.Disk.OperationCount == before || _random.NextDouble() >= _cuts)
            {
                return true;
            }

            Seen.Add("power cut within a write");
            CutPower(card, _random.Next(before, card.Disk.OperationCount + 1));
        }
        catch (DiskException)
        {
            Seen.Add("disk refused");
        }
        finally
        {
            card.Disk.ClearFaults();
        }

        return false;
    }

    private SimulatedCard[] ShuffleCards()
    {
        SimulatedCard[] shuffled = [.. _cards];
        _random.Shuffle(shuffled);
        return shuffled;
    }

    /// <summary>A node with its disk.</summary>
    private sealed class SimulatedCard(string nodeId, string name)
    {
        public string NodeId => nodeId;

        public string Name => name;

        /// <summary>The round in which the node is switched on.</summary>
        public int OnFrom { get; set; }

        /// <summary>The round from which on a user claims the node.</summary>
        public int ClaimedFrom { get; set; } = int.MaxValue;

        /// <summary>Whether a user has claimed the node.</summary>
        public bool IsClaimed { get; set; }

        /// <summary>Whether the node was claimed before it founded a cluster: then it must never found one.</summary>
        public bool IsClaimedFirst { get; set; }

        /// <summary>The rounds until the node has replayed its journal and knows whether it was claimed.</summary>
        public int RoundsToReplay { get; set; }

        /// <summary>Whether the node has made its first decision since its start.</summary>
        public bool HasBegun { get; set; }

        /// <summary>Whether the node itself knows that it was claimed.</summary>
        public bool IsKnownAsClaimed => IsClaimed && RoundsToReplay == 0;

        public SimulatedDisk Disk { get; set; } = new(Directory);

        public FormingNode? Node { get; set; }

        /// <summary>Whether the node answers; an admitted one is stopped to join.</summary>
        public bool IsOn => !IsSilent && Node is { Note.Step: not FormingStep.Admitted };

        public bool IsSilent { get; set; }
    }
}

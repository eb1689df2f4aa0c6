using System.Globalization;
using Rookery.Cluster.Forming;
using Rookery.Disk;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>What is wrong with a node on purpose, to show that it is found.</summary>
public enum FormingMistake
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>Nothing that it notes is synced.</summary>
    NotDurable,

    /// <summary>It vows again before it was let go.</summary>
    TwoVows,
}

/// <summary>
/// Cards that form, in one thread: real nodes' parts on simulated disks that lose what was not synced, with calls and answers that are lost or late, power cuts also within a write, and disks that refuse. In the
/// end everything heals. Whatever a node is told is checked: nobody is among those of two founders.
/// </summary>
internal sealed class FormingRun
{
    private const int FaultyRounds = 40;
    private const int SoundRounds = 40;
    private const string Directory = "/data";

    private readonly Random _random;
    private readonly int _expect;
    private readonly FormingMistake _mistake;
    private readonly SimulatedTimeProvider _time = new();
    private readonly Card[] _cards;
    private readonly List<(Card To, FormingCall Call)> _late = [];
    private readonly Dictionary<string, string[]> _foundings = new(StringComparer.Ordinal);
    private double _loss;
    private double _cuts;

    public FormingRun(int seed, int expect, int cards, FormingMistake mistake = FormingMistake.None)
    {
        _random = new Random(seed);
        _expect = expect;
        _mistake = mistake;
        _loss = _random.NextDouble() * 0.6;
        _cuts = _random.NextDouble() * 0.15;
        _cards = [.. Enumerable.Range(0, cards).Select(index => new Card(string.Create(CultureInfo.InvariantCulture, $"node{index:00}nodenodenodenode")[..22], $"pi-{index}"))];
        foreach (var card in _cards)
        {
            // Some are switched on late.
            card.OnFrom = _random.Next(3) == 0 ? _random.Next(FaultyRounds) : 0;
        }
    }

    /// <summary>What happened, to be counted over many runs.</summary>
    public HashSet<string> Seen { get; } = new(StringComparer.Ordinal);

    /// <summary>How each card ended.</summary>
    public IReadOnlyList<FormingNote> Ends => [.. _cards.Select(static card => card.Node!.Note)];

    /// <summary>Runs all of it.</summary>
    public void Run()
    {
        for (int round = 0; round < FaultyRounds; round++)
        {
            foreach (var card in Shuffled().Where(card => round >= card.OnFrom))
            {
                if (_random.NextDouble() < _cuts)
                {
                    CutPower(card, card.Disk.OperationCount);
                }

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
        for (int round = 0; round < SoundRounds; round++)
        {
            foreach (var card in _cards)
            {
                DoRound(card);
            }

            _time.Advance(TimeSpan.FromSeconds(3));
        }
    }

    private void DoRound(Card card)
    {
        Open(card);
        if (card.Node is not { Note.Step: FormingStep.Open or FormingStep.Candidate or FormingStep.Vowed } node)
        {
            return;
        }

        // A vow that is noted is said at once, as the duty does it.
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

    /// <summary>As the route does it: a token for whom the founder has noted. Null when nothing was answered.</summary>
    private FormingAnswer? Ask(Card card, FormingCall call)
    {
        var node = card.Node!;
        FormingAnswer? answer = null;
        if (!Try(card, () => answer = node.Answer(call)))
        {
            return null;
        }

        if (!answer!.Members.Contains(call.NodeId, StringComparer.Ordinal))
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
            Assert.True(_foundings.Values.Count(founding => founding.Contains(member, StringComparer.Ordinal)) == 1, $"{member} is among those of two founders");
        }

        return answer with { Token = card.NodeId };
    }

    private void CutPower(Card card, int operation)
    {
        Seen.Add("power cut");
        card.Disk = card.Disk.CrashAt(operation, _random.Next());
        card.Node = null;
    }

    private void Open(Card card) => card.Node ??= new FormingNode(
        _mistake == FormingMistake.NotDurable ? new SyncSkippingDisk(card.Disk, static path => string.Equals(path, Directory, StringComparison.Ordinal)) : card.Disk, Directory, new FormingSelf(card.NodeId, card.Name, "home", _expect), () => true, _time);

    /// <summary>False when the disk refused, or power went before it was done: then nothing is said.</summary>
    private bool Try(Card card, Action action)
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


    private Card[] Shuffled()
    {
        Card[] shuffled = [.. _cards];
        _random.Shuffle(shuffled);
        return shuffled;
    }

    private sealed class Card(string nodeId, string name)
    {
        public string NodeId => nodeId;

        public string Name => name;

        public int OnFrom { get; set; }

        public SimulatedDisk Disk { get; set; } = new(Directory);

        public FormingNode? Node { get; set; }

        /// <summary>Whether it answers: who was let in stops to join.</summary>
        public bool IsOn => Node is { Note.Step: not FormingStep.Admitted };
    }
}

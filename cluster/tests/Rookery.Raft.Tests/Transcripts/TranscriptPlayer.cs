using Rookery.Histories;
using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Transcripts;

/// <summary>
/// Executes a transcript's commands on real cores, and describes each command's effects in lines: messages in flight,
/// changed states, applied entries and answered reads.
/// </summary>
internal sealed class TranscriptPlayer(PlantedBug bug)
{
    private const int MaxTicks = 200;
    private const int MaxMessages = 2_000;

    /// <summary>The commands without immediate effects, for which "nothing" is not printed.</summary>
    private static readonly string[] Quiet = ["partition", "heal", "hold-disk", "drop"];

    // The last descriptions of each member: its state, its process with the last applied index, and its configuration.
    private readonly Dictionary<int, string> _states = [];
    private readonly Dictionary<int, (int Process, long Index)> _applied = [];
    private readonly Dictionary<int, string> _members = [];

    // The names of proposals; the first has the payload 1.
    private readonly List<string> _names = [];
    private TranscriptWorld? _world;

    private TranscriptWorld World => _world ?? throw new InvalidDataException("A transcript begins with add-members.");

    /// <summary>Executes one command.</summary>
    /// <exception cref="InvalidDataException">The command is unknown or not possible now.</exception>
    public string[] Play(string command)
    {
        string[] words = command.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (words[0] is "add-members")
        {
            _world = new TranscriptWorld(
                bug,
                ParseNumbers(WordsUntil(words[1..], "learners")),
                ParseNumbers(After(words, "learners"))
            );
            _ = DescribeChanges();
            return
            [
                $"{TranscriptText.Of(World[World.Ids.First()].Core!.Configuration)}: followers in term 0 with empty logs",
            ];
        }

        Flight[] before = [.. World.Flights];
        string[] answers = [.. Execute(words[0], words[1..])];
        string[] sent =
        [
            .. World
                .Flights.Where(flight => !before.Contains(flight))
                .Select(flight => TranscriptText.Of(flight, NameOf)),
        ];
        string[] lines = [.. answers, .. World.Notes, .. DescribeApplied(), .. DescribeChanges(), .. sent];
        World.Notes.Clear();
        return lines.Length == 0 && !Quiet.Contains(words[0], StringComparer.Ordinal) ? ["nothing"] : lines;
    }

    // Executes a command and returns what it answers. The effects on members and messages are described afterwards.
    private IEnumerable<string> Execute(string verb, string[] words)
    {
        switch (verb)
        {
            case "campaign":
                Campaign(ParseNumber(words[0]), Role.PreCandidate, _ => false);
                break;
            case "elect":
                Campaign(ParseNumber(words[0]), Role.Leader, IsNotOf(After(words, "without")));
                break;
            case "tick":
                int ticks = ParseNumber(words[1]);
                for (int tick = 0; tick < ticks; tick++)
                {
                    World.Tick(Members(words[0]));
                }

                break;
            case "run":
                for (int tick = ParseNumber(words[0]); tick > 0; tick--)
                {
                    World.Tick(World.Ids);
                    DeliverAll(_ => true);
                }

                break;
            case "deliver" when words[0] is "all":
                DeliverAll(_ => true);
                break;
            case "deliver":
                return ComplainWhenNone(World.Deliver(Between(words)));
            case "deliver-one":
                return ComplainWhenNone(World.DeliverOne(Between(words)));
            case "drop":
                return ComplainWhenNone(World.Drop(Between(words)));
            case "partition":
                World.Partition(string.Join(' ', words).Split('|').Select(group => ParseNumbers(group.Split(' '))));
                break;
            case "heal":
                World.Partition([]);
                break;
            case "crash":
                Array.ForEach(ParseNumbers(words), World.Crash);
                break;
            case "restart":
                Array.ForEach(ParseNumbers(words), World.Restart);
                break;
            case "hold-disk":
                World.HoldDisk(ParseNumber(words[0]));
                break;
            case "release-disk":
                World.ReleaseDisk(ParseNumber(words[0]));
                break;
            case "propose":
                return Propose(ParseNumber(words[0]), words[1]);
            case "read":
                Read(ParseNumber(words[0]));
                break;
            case "transfer":
                World.Step(ParseNumber(words[0]), now => Input.Transfer(now, new NodeId(ParseNumber(words[1]))));
                break;
            case "learner" or "voter" or "remove":
                return [Change(verb, ParseNumber(words[0]), ParseNumber(words[1]))];
            case "compact":
                World.Do(ParseNumber(words[0]), node => node.Flush(1));
                return [TranscriptText.LogOf(World[ParseNumber(words[0])], NameOf)];
            case "log":
                return words.Select(word => TranscriptText.LogOf(World[ParseNumber(word)], NameOf));
            case "state":
                return Grouped(World.Ids.Select(id => (id, TranscriptText.Of(World[id]))));
            default:
                throw new InvalidDataException($"'{verb}' is not a command of a transcript.");
        }

        return [];
    }

    /// <summary>
    /// Lets time pass for one member until it has a role. Messages that pass are delivered meanwhile.
    /// </summary>
    private void Campaign(int id, Role role, Predicate<Flight> passes)
    {
        for (int tick = 0; tick < MaxTicks && World[id].Core!.Role < role; tick++)
        {
            World.Tick([id]);
            DeliverAll(passes);
        }

        Assert.True(World[id].Core!.Role >= role, $"{id} becomes {role}");
    }

    // Delivers messages that pass, and those that follow from them, until there are no more.
    private void DeliverAll(Predicate<Flight> passes)
    {
        for (int count = 0, round = 1; round > 0; count += round)
        {
            round = World.Deliver(passes);
            Assert.True(count < MaxMessages, "messages come to an end");
        }
    }

    private string[] Propose(int id, string name)
    {
        long last = World[id].Core!.Last.Index;
        _names.Add(name);
        World.Do(id, node => node.Propose(_names.Count));
        return World[id].Core!.Last.Index == last ? [$"{id} refuses {name}"] : [];
    }

    private void Read(int id)
    {
        var nothing = new ClientCommand(
            Client: 0,
            Sequence: 0,
            OperationKind.Get,
            Documents: [0],
            Value: 0,
            Expected: 0
        );
        World.Do(
            id,
            node =>
                node.Read(
                    World.NextNumber(),
                    nothing,
                    _ => World.Notes.Add($"{id} answers a read, as of {node.Applied}")
                )
        );
    }

    private string Change(string verb, int id, int member)
    {
        var change = verb switch
        {
            "learner" => MemberChange.Learner,
            "voter" => MemberChange.Voter,
            _ => MemberChange.Removed,
        };
        var answer = ChangeAnswer.None;
        World.Do(id, node => answer = node.Change(change, new NodeId(member)));
        return $"{id} answers {answer}";
    }

    // Describes what members have applied since the last command.
    private IEnumerable<string> DescribeApplied()
    {
        List<(int, string)> applied = [];
        foreach (var node in World.Ids.Select(id => World[id]).Where(node => node.IsRunning))
        {
            int id = (int)node.Id.Value;
            var (process, index) = _applied.GetValueOrDefault(id);
            string entries = string.Join(", ", DescribeAppliedAfter(node, process == node.Process ? index : 0));
            _applied[id] = (node.Process, node.Applied);
            if (entries.Length > 0)
            {
                applied.Add((id, $"applied {entries}"));
            }
        }

        return Grouped(applied);
    }

    private IEnumerable<string> DescribeAppliedAfter(SimulatedNode node, long index)
    {
        var from = node.Store.Base.Position;
        if (from.Index > index)
        {
            yield return $"snapshot {TranscriptText.Of(from)}";
        }

        for (index = Math.Max(index, from.Index) + 1; index <= node.Applied; index++)
        {
            yield return node.Store.At(index) is { } entry
                ? TranscriptText.Of(entry, NameOf)
                : $"{index}, which its disk does not have";
        }
    }

    // Describes the members whose state or configuration has changed since the last command.
    private string[] DescribeChanges()
    {
        List<(int, string)> changes = [];
        foreach (int id in World.Ids)
        {
            string state = TranscriptText.Of(World[id]);
            if (!string.Equals(_states.GetValueOrDefault(id), state, StringComparison.Ordinal))
            {
                _states[id] = state;
                changes.Add((id, state));
            }

            if (World[id].Core is { } core)
            {
                string members = TranscriptText.Of(core.Configuration);
                if (
                    _members.TryGetValue(id, out string? known)
                    && !string.Equals(known, members, StringComparison.Ordinal)
                )
                {
                    changes.Add((id, $"counts {members}"));
                }

                _members[id] = members;
            }
        }

        return [.. Grouped(changes)];
    }

    /// <summary>Merges the lines of members with the same description.</summary>
    private static IEnumerable<string> Grouped(IEnumerable<(int Id, string Description)> lines) =>
        lines
            .GroupBy(line => line.Description, line => line.Id, StringComparer.Ordinal)
            .Select(group => $"{string.Join(' ', group)}: {group.Key}");

    private IEnumerable<int> Members(string word) => word is "all" ? World.Ids : [ParseNumber(word)];

    private string NameOf(long payload) => _names[(int)payload - 1];

    /// <summary>
    /// Parses a selection of messages: <c>1->2</c> or <c>1->2 Append</c>; <c>*</c> stands for every member.
    /// </summary>
    private static Predicate<Flight> Between(string[] words)
    {
        if (words[0] is "all")
        {
            return _ => true;
        }

        if (words[0].Split("->") is not [var from, var to])
        {
            throw new InvalidDataException($"'{words[0]}' names no sender and receiver. Write for example 1->2.");
        }

        return flight =>
            (from is "*" || flight.From.Value == ParseNumber(from))
            && (to is "*" || flight.To.Value == ParseNumber(to))
            && (
                words.Length == 1 || string.Equals(flight.Message?.Kind.ToString(), words[1], StringComparison.Ordinal)
            );
    }

    private static Predicate<Flight> IsNotOf(string[] kinds) =>
        flight => !kinds.Contains(flight.Message?.Kind.ToString(), StringComparer.Ordinal);

    private static string[] ComplainWhenNone(int count) => count == 0 ? ["there was no such message"] : [];

    private static string[] WordsUntil(string[] words, string mark) =>
        [.. words.TakeWhile(word => !string.Equals(word, mark, StringComparison.Ordinal))];

    private static string[] After(string[] words, string mark) =>
        [.. words.SkipWhile(word => !string.Equals(word, mark, StringComparison.Ordinal)).Skip(1)];

    private static int[] ParseNumbers(string[] words) => [.. words.Where(word => word.Length > 0).Select(ParseNumber)];

    private static int ParseNumber(string word) =>
        int.TryParse(word, out int number) ? number : throw new InvalidDataException($"'{word}' is no number.");
}

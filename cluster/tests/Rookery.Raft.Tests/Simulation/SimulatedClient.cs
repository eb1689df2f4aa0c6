using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A client that reads and writes one thing after another through whatever node it comes upon, asks again elsewhere when no answer comes, gives up in the end, and writes down
/// what it was told.
/// </summary>
internal sealed class SimulatedClient(int number, SimulatedCluster cluster)
{
    /// <summary>Documents and lists that are written at a time; every few seconds they are new ones, so that a history of each stays short enough to be searched.</summary>
    private const int AtATime = 3;

    private const long EpochMicroseconds = 3_000_000;
    private const int MostTries = 4;

    private readonly Dictionary<int, long> lastSeen = [];
    private ClientCommand? command;
    private long payload;
    private long invoked;
    private long deadline;
    private int tries;
    private int sequence;
    private bool isOpen;
    private bool mayBeDone;

    public List<Operation> History { get; } = [];

    /// <summary>Goes on: with something new, or again with what was not answered.</summary>
    public void GoOn()
    {
        if (command is null)
        {
            Begin();
        }
        else if (cluster.Now >= deadline)
        {
            mayBeDone |= isOpen;
            TryElsewhere();
        }
    }

    /// <summary>Writes down what is still open.</summary>
    public void Stop()
    {
        if (command is not null)
        {
            mayBeDone |= isOpen;
            GiveUp();
        }
    }

    /// <summary>The answer to one try.</summary>
    private void Hear(ClientCommand asked, int question, CommandResult result)
    {
        if (command == asked && result != CommandResult.NotLed)
        {
            Record(result);
            command = null;
        }
        else if (command == asked && question == tries)
        {
            (isOpen, deadline) = (false, cluster.Now + 50_000);
        }
    }

    private void Begin()
    {
        var random = cluster.Random;
        bool looksBack = random.Next(10) == 0;
        int epoch = (int)(looksBack ? random.NextInt64(cluster.Now + 1) : cluster.Now) / (int)EpochMicroseconds;
        int document = (epoch * AtATime) + random.Next(AtATime);
        int draw = random.Next(10);
        command = draw switch
        {
            < 3 => new ClientCommand(number, 0, OperationKind.Get, [document], 0, 0),
            3 => new ClientCommand(number, 0, OperationKind.Transaction, ListsOf(epoch), 0, 0),
            4 or 5 => Write(OperationKind.CompareAndSet, [document], lastSeen.GetValueOrDefault(document)),
            6 or 7 => Write(OperationKind.Transaction, random.Next(2) == 0 ? [document] : ListsOf(epoch)[..2], 0),
            _ => Write(OperationKind.Put, [document], 0),
        };
        (invoked, tries, mayBeDone) = (cluster.Now, 0, false);
        TryElsewhere();
    }

    private static int[] ListsOf(int epoch) => [.. Enumerable.Range(epoch * AtATime, AtATime)];

    private ClientCommand Write(OperationKind kind, int[] documents, long expected)
    {
        var write = new ClientCommand(number, ++sequence, kind, documents, cluster.NextPayload, expected);
        payload = cluster.Keep(write);
        return write;
    }

    private void TryElsewhere()
    {
        if (++tries > MostTries)
        {
            GiveUp();
            return;
        }

        var (asked, question) = (command!, tries);
        (isOpen, deadline) = (true, cluster.Now + 300_000 + cluster.Random.NextInt64(1_500_000));
        cluster.Ask(asked, payload, result => Hear(asked, question, result));
    }

    private void GiveUp()
    {
        if (mayBeDone && command!.Writes)
        {
            Record(new CommandResult(Outcome.Unknown));
        }

        command = null;
    }

    private void Record(CommandResult result)
    {
        var done = command!;
        History.Add(OperationOf(done, result) with { Client = number, Invoked = invoked, Completed = cluster.Now });
        if (done.Kind != OperationKind.Transaction && result.Outcome == Outcome.Done)
        {
            lastSeen[done.Documents[0]] = done.Writes ? done.Value : result.Value;
        }
    }

    public static Operation OperationOf(ClientCommand command, CommandResult result)
    {
        var operation = new Operation { Invoked = 0, Kind = command.Kind, Outcome = result.Outcome, Etag = result.Etag, Expected = command.Expected };
        return command.Kind == OperationKind.Transaction
            ? operation with
            {
                Reads = [.. (result.Lists ?? []).Select((elements, place) => new ListRead(NameOf(command.Documents[place]), elements))],
                Appends = [.. command.Documents.Where(_ => command.Value != 0).Select(list => new ListAppend(NameOf(list), command.Value))],
            }
            : operation with { Key = NameOf(command.Documents[0]), Value = command.Writes ? command.Value : result.Value };
    }

    private static string NameOf(int document) => Names[document];

    private static string[] Names { get; } = [.. Enumerable.Range(0, 128).Select(document => document.ToString(System.Globalization.CultureInfo.InvariantCulture))];
}

using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A client that reads and writes through any node, asks another node when no answer comes, gives up in the end, and
/// records the answers.
/// </summary>
internal sealed class SimulatedClient(int number, SimulatedCluster cluster)
{
    /// <summary>
    /// The number of documents, and of lists, that are written in one epoch. Each epoch has its own documents, so that
    /// the history of each document stays short enough to be searched.
    /// </summary>
    private const int DocumentsPerEpoch = 3;

    private const long EpochMicroseconds = 3_000_000;
    private const long RetryDelayMicroseconds = 50_000;
    private const long ShortestTimeoutMicroseconds = 300_000;
    private const long LongestExtraTimeoutMicroseconds = 1_500_000;
    private const int MaxAttempts = 4;

    private readonly Dictionary<int, long> _lastSeen = [];
    private ClientCommand? _command;
    private long _payload;
    private long _invoked;
    private long _deadline;
    private int _attempts;
    private int _sequence;

    // Whether the newest attempt may still be answered.
    private bool _isOpen;

    // Whether an earlier attempt may have been executed.
    private bool _mayBeDone;

    /// <summary>The requests with their answers.</summary>
    public List<Operation> History { get; } = [];

    /// <summary>Sends the next operation, or repeats an unanswered one.</summary>
    public void Continue()
    {
        if (_command is null)
        {
            Begin();
        }
        else if (cluster.Now >= _deadline)
        {
            _mayBeDone |= _isOpen;
            TryAnyNode();
        }
    }

    /// <summary>Gives up the open operation, and records it if it may have written.</summary>
    public void Stop()
    {
        if (_command is not null)
        {
            _mayBeDone |= _isOpen;
            GiveUp();
        }
    }

    /// <summary>Handles the answer to one attempt.</summary>
    private void ReceiveAnswer(ClientCommand asked, int attempt, CommandResult result)
    {
        if (_command == asked && result != CommandResult.NotLed)
        {
            Record(result);
            _command = null;
        }
        else if (_command == asked && attempt == _attempts)
        {
            (_isOpen, _deadline) = (false, cluster.Now + RetryDelayMicroseconds);
        }
    }

    private void Begin()
    {
        var random = cluster.Random;
        bool isOfEarlierEpoch = random.Next(10) == 0;
        int epoch = (int)(isOfEarlierEpoch ? random.NextInt64(cluster.Now + 1) : cluster.Now) / (int)EpochMicroseconds;
        int document = (epoch * DocumentsPerEpoch) + random.Next(DocumentsPerEpoch);
        int draw = random.Next(10);
        _command = draw switch
        {
            < 3 => new ClientCommand(number, Sequence: 0, OperationKind.Get, [document], Value: 0, Expected: 0),
            3 => new ClientCommand(
                number,
                Sequence: 0,
                OperationKind.Transaction,
                ListsOf(epoch),
                Value: 0,
                Expected: 0
            ),
            4 or 5 => Write(OperationKind.CompareAndSet, [document], _lastSeen.GetValueOrDefault(document)),
            6 or 7 => Write(
                OperationKind.Transaction,
                random.Next(2) == 0 ? [document] : ListsOf(epoch)[..2],
                expected: 0
            ),
            _ => Write(OperationKind.Put, [document], expected: 0),
        };
        (_invoked, _attempts, _mayBeDone) = (cluster.Now, 0, false);
        TryAnyNode();
    }

    private static int[] ListsOf(int epoch) => [.. Enumerable.Range(epoch * DocumentsPerEpoch, DocumentsPerEpoch)];

    private ClientCommand Write(OperationKind kind, int[] documents, long expected)
    {
        var write = new ClientCommand(number, ++_sequence, kind, documents, cluster.NextPayload, expected);
        _payload = cluster.Keep(write);
        return write;
    }

    private void TryAnyNode()
    {
        if (++_attempts > MaxAttempts)
        {
            GiveUp();
            return;
        }

        var (asked, attempt) = (_command!, _attempts);
        long timeout = ShortestTimeoutMicroseconds + cluster.Random.NextInt64(LongestExtraTimeoutMicroseconds);
        (_isOpen, _deadline) = (true, cluster.Now + timeout);
        cluster.Ask(asked, _payload, result => ReceiveAnswer(asked, attempt, result));
    }

    private void GiveUp()
    {
        if (_mayBeDone && _command!.Writes)
        {
            Record(new CommandResult(Outcome.Unknown));
        }

        _command = null;
    }

    private void Record(CommandResult result)
    {
        var done = _command!;
        History.Add(OperationOf(done, result) with { Client = number, Invoked = _invoked, Completed = cluster.Now });
        if (done.Kind != OperationKind.Transaction && result.Outcome == Outcome.Done)
        {
            _lastSeen[done.Documents[0]] = done.Writes ? done.Value : result.Value;
        }
    }

    /// <summary>Returns a command and its result as an operation, without client and times.</summary>
    public static Operation OperationOf(ClientCommand command, CommandResult result)
    {
        var operation = new Operation
        {
            Invoked = 0,
            Kind = command.Kind,
            Outcome = result.Outcome,
            Etag = result.Etag,
            Expected = command.Expected,
        };
        return command.Kind == OperationKind.Transaction
            ? operation with
            {
                Reads =
                [
                    .. (result.Lists ?? []).Select(
                        (elements, place) => new ListRead(NameOf(command.Documents[place]), elements)
                    ),
                ],
                Appends =
                [
                    .. command
                        .Documents.Where(_ => command.Value != 0)
                        .Select(list => new ListAppend(NameOf(list), command.Value)),
                ],
            }
            : operation with
            {
                Key = NameOf(command.Documents[0]),
                Value = command.Writes ? command.Value : result.Value,
            };
    }

    private static string NameOf(int document) => Names[document];

    private static string[] Names { get; } =
    [
        .. Enumerable
            .Range(0, 128)
            .Select(document => document.ToString(System.Globalization.CultureInfo.InvariantCulture)),
    ];
}

using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// The state machine: documents with etags, lists, the last result of each client, and a hash chain over all results.
/// </summary>
internal sealed class SimulatedState
{
    /// <summary>The number of possible documents, and of possible lists.</summary>
    public const int Documents = 128;

    private const int Clients = 8;

    private readonly (long Value, long Etag)[] _documents;
    private readonly long[][] _lists;
    private readonly (int Sequence, CommandResult? Result)[] _sessions;
    private LogAge _age;

    public SimulatedState()
        : this(
            new (long, long)[Documents],
            [.. Enumerable.Repeat<long[]>([], Documents)],
            new (int, CommandResult?)[Clients],
            0,
            default
        ) { }

    private SimulatedState(
        (long Value, long Etag)[] documents,
        long[][] lists,
        (int Sequence, CommandResult? Result)[] sessions,
        long hash,
        LogAge age
    ) => (_documents, _lists, _sessions, Hash, _age) = (documents, lists, sessions, hash, age);

    /// <summary>The hash chain over entries and results.</summary>
    public long Hash { get; private set; }

    /// <summary>The last log time.</summary>
    public long LastTicks => _age.LastTicks;

    /// <summary>Changes the chain, as if one result were wrong.</summary>
    public void Diverge() => Hash++;

    public SimulatedState Copy() => new([.. _documents], [.. _lists], [.. _sessions], Hash, _age);

    /// <summary>Records and checks the log time of an entry.</summary>
    public void RecordTime(in StoredEntry entry) => _age = _age.Next(entry);

    /// <summary>
    /// Applies an entry. Returns the client's result; null if the entry has no client, or the client sent a later one.
    /// </summary>
    /// <param name="index">The entry's index, the etag of what it writes.</param>
    /// <param name="payload">The entry's payload.</param>
    /// <param name="command">The client's command; null for none.</param>
    /// <param name="onlyOnce">Whether a repeated command is recognised. False plants a bug.</param>
    public CommandResult? Apply(long index, long payload, ClientCommand? command, bool onlyOnce)
    {
        var result = command is null ? null : ApplyOnce(index, command, onlyOnce);
        Hash = unchecked(
            (((Hash * 31) + payload) * 31) + (result is null ? 0 : (result.Etag * 31) + (int)result.Outcome)
        );
        return result;
    }

    /// <summary>Answers a command that reads.</summary>
    public CommandResult Read(ClientCommand command) =>
        command.Kind == OperationKind.Transaction
            ? new CommandResult(Outcome.Done, Lists: [.. command.Documents.Select(list => _lists[list])])
            : new CommandResult(
                Outcome.Done,
                _documents[command.Documents[0]].Etag,
                _documents[command.Documents[0]].Value
            );

    private CommandResult? ApplyOnce(long index, ClientCommand command, bool onlyOnce)
    {
        var (sequence, last) = _sessions[command.Client];
        if (onlyOnce && command.Sequence <= sequence)
        {
            return command.Sequence == sequence ? last : null;
        }

        var result = Change(index, command);
        _sessions[command.Client] = (command.Sequence, result);
        return result;
    }

    private CommandResult Change(long index, ClientCommand command)
    {
        if (command.Kind == OperationKind.Transaction)
        {
            var read = Read(command);
            foreach (int list in command.Documents)
            {
                _lists[list] = [.. _lists[list], command.Value];
            }

            return read with
            {
                Etag = index,
            };
        }

        ref var document = ref _documents[command.Documents[0]];
        if (command.Kind == OperationKind.CompareAndSet && document.Value != command.Expected)
        {
            return new CommandResult(Outcome.Refused, document.Etag);
        }

        document = (command.Value, index);
        return new CommandResult(Outcome.Done, index);
    }
}

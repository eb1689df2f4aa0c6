using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Platform;
using Rookery.Redis.Protocol;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Redis.Connections;

/// <summary>
/// Executes the data commands of one connection. The commands of a burst become one entry of the log, from its first
/// write on. Reads before that write are answered from one snapshot, opened after a read barrier that began after the
/// burst had arrived.
/// </summary>
internal sealed class DataCommands(RedisConnection connection) : IDisposable
{
    /// <summary>
    /// Longest burst that is divided if it is refused as a whole, in bytes. A longer one has few commands, each with
    /// long arguments.
    /// </summary>
    private const int MaxDividedBytes = 1 << 20;

    private readonly List<PendingReply> _pending = [];
    private readonly PooledBytes _burst = new(); // the proposed commands, kept to divide them
    private readonly ReplyBuffer _scratch = new();
    private RedisCommandWriter? _writer;
    private DatabaseReader _reader;
    private Database? _database; // looked up once for a burst
    private bool _isReading;
    private bool _isBarrierReached;

    /// <summary>The keys that WATCH named.</summary>
    public WatchedKeys Watches { get; } = new(connection.Held);

    /// <summary>Whether commands wait for the log.</summary>
    public bool HasPending => _pending.Count > 0;

    /// <summary>Begins to read commands that have arrived.</summary>
    public void BeginBurst() => (_isBarrierReached, _database) = (false, null);

    /// <summary>Releases what the burst holds.</summary>
    public void EndBurst()
    {
        EndReads();
        _writer?.Dispose();
        _writer = null;
        _pending.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        EndBurst();
        _scratch.Release();
        _burst.Release();
    }

    /// <summary>Executes a command, or adds it to those that wait for the log.</summary>
    public ValueTask RunAsync(RedisCommandInfo command, RedisArguments arguments)
    {
        _database ??= connection.Node.TryFindDatabase();
        if (_database is not { } database)
        {
            return RunInNewDatabaseAsync(new StoredCommand(command, arguments));
        }

        bool isForLog = command.IsWrite || (HasPending && command.RunsInLog && IsShort(command));
        if (!isForLog)
        {
            return !HasPending && (_isBarrierReached || IsBarrierReachedAtOnce())
                ? Read(database, command, arguments)
                : ReadAfterWaitAsync(new StoredCommand(command, arguments));
        }

        if (HasPending && _writer!.Length + StoredCommand.CostOf(arguments) > connection.Node.MaxLogCommandBytes)
        {
            return AppendAfterCommitAsync(database, new StoredCommand(command, arguments));
        }

        Append(database, command, arguments);
        return ValueTask.CompletedTask;
    }

    /// <summary>Closes the snapshot, so that later reads see later writes.</summary>
    public void EndReads()
    {
        if (_isReading)
        {
            _isReading = false;
            _reader.Dispose();
        }
    }

    /// <summary>Proposes the waiting commands, and appends their replies.</summary>
    public ValueTask CommitAsync() => HasPending ? CommitPendingAsync() : ValueTask.CompletedTask;

    /// <summary>
    /// Proposes a command of the log. If its outcome is unknown, the connection ends after the error.
    /// </summary>
    /// <returns>The outcome, which the caller releases; null if the error is appended.</returns>
    public async ValueTask<CommandOutcome?> ProposeAsync(RedisCommandWriter writer)
    {
        int count = writer.Count;
        var outcome = await ProposeCountedAsync(writer);
        if (outcome.Rejection is not { } rejection)
        {
            return outcome;
        }

        CountUnknown(rejection, count);
        connection.Fail(RejectionText.Of(rejection));
        connection.IsEnding |= rejection.Kind is RejectionKind.OutcomeUnknown or RejectionKind.Stopping;
        return null;
    }

    /// <summary>Opens a snapshot after a read barrier; null if the error is appended.</summary>
    public async ValueTask<DatabaseReader?> OpenReaderAsync()
    {
        var node = connection.Node;
        if (!await node.Consensus.ReadBarrierAsync())
        {
            connection.Fail(RejectionText.Of(RavenRoute.NoBarrierRejection(node.Context)));
            return null;
        }

        if (node.TryFindDatabase() is null && await PrepareAsync() is { } problem)
        {
            connection.Fail(problem);
            return null;
        }

        try
        {
            if (node.TryFindDatabase() is { Configurations.IsDisabled: false } database)
            {
                return database.OpenReader();
            }
        }
        catch (DatabaseGoneException)
        {
            // Deleted in between.
        }

        connection.Fail($"ERR Database '{node.DatabaseName}' is disabled, or was deleted just now.");
        return null;
    }

    /// <summary>Appends a reply of the interpreter in the client's version of the protocol.</summary>
    public void AppendReply(ReadOnlySpan<byte> reply, bool isNullArray)
    {
        if (reply[0] == (byte)'-')
        {
            connection.Node.Metrics.CountError();
        }

        // The command was carried out, so it is answered, even if memory is short. The log bounds the replies of an
        // entry.
        connection.Replies.MustTake = true;
        ReplyTranslation.Append(reply, connection.Replies, isNullArray);
        connection.Replies.MustTake = false;
    }

    /// <summary>Whether null stands for an array in the reply of a command.</summary>
    public static bool IsNullArray(RedisCommandInfo command, int arguments) =>
        command.Opcode is RedisOpcode.ListPopLeftOfFirst or RedisOpcode.ListPopRightOfFirst
        || (command.Opcode is RedisOpcode.ListPopLeft or RedisOpcode.ListPopRight && arguments > 1);

    // Other commands may read much or have long replies, and would delay the log.
    private static bool IsShort(RedisCommandInfo command) =>
        (command.Flags & RedisCommandTraits.Fast) != RedisCommandTraits.None;

    private string DeletedJustNow => $"ERR Database '{connection.Node.DatabaseName}' was deleted just now.";

    private bool IsBarrierReachedAtOnce()
    {
        var consensus = connection.Node.Consensus;
        if (!consensus.AnswersAtOnce)
        {
            return false;
        }

        var barrier = consensus.ReadBarrierAsync();
        return _isBarrierReached = barrier.IsCompletedSuccessfully && barrier.Result;
    }

    private void Append(Database database, RedisCommandInfo command, RedisArguments arguments)
    {
        EndReads();
        _writer ??= new RedisCommandWriter(database.Number);
        _writer.Append(command, arguments);
        _pending.Add(new PendingReply(IsNullArray(command, arguments.Count), connection.TakeSilence()));
    }

    private async ValueTask AppendAfterCommitAsync(Database database, StoredCommand stored)
    {
        await CommitPendingAsync();
        if (!connection.IsEnding)
        {
            Append(database, stored.Info, stored.Arguments);
        }
    }

    private async ValueTask ReadAfterWaitAsync(StoredCommand stored)
    {
        await CommitAsync();
        if (connection.IsEnding)
        {
            return;
        }

        // A barrier that began before the commit does not cover it.
        if (!await connection.Node.Consensus.ReadBarrierAsync())
        {
            FailData(RejectionText.Of(RavenRoute.NoBarrierRejection(connection.Node.Context)));
            return;
        }

        _isBarrierReached = true;
        // Disabling or enabling the database creates a new object.
        _database = connection.Node.TryFindDatabase();
        if (_database is { } database)
        {
            await Read(database, stored.Info, stored.Arguments);
        }
        else
        {
            FailData(DeletedJustNow);
        }
    }

    private async ValueTask RunInNewDatabaseAsync(StoredCommand stored)
    {
        await CommitAsync();
        if (connection.IsEnding)
        {
            return;
        }

        // A lagging member may not know the database yet.
        string? problem = await connection.Node.Consensus.ReadBarrierAsync()
            ? await PrepareAsync()
            : RejectionText.Of(RavenRoute.NoBarrierRejection(connection.Node.Context));
        _database = connection.Node.TryFindDatabase();
        if (problem is null && _database is null)
        {
            problem = DeletedJustNow;
        }

        if (problem is null)
        {
            await RunAsync(stored.Info, stored.Arguments);
            return;
        }

        FailData(problem);
    }

    // A client that may only read changes nothing, so it does not create a database.
    private async ValueTask<string?> PrepareAsync()
    {
        var node = connection.Node;
        if ((connection.Identity.Scopes & AccessScopes.Write) == AccessScopes.None)
        {
            return node.TryFindDatabase() is not null
                ? null
                : $"ERR Database '{node.DatabaseName}' does not exist. The first command of a client with the scope "
                    + "write creates it.";
        }

        return await node.PrepareDatabaseAsync() is { } rejection ? RejectionText.Of(rejection) : null;
    }

    // Appends the error of a data command, unless the client does not want its reply.
    private void FailData(string problem)
    {
        int before = connection.Replies.Length;
        connection.Fail(problem);
        if (connection.TakeSilence())
        {
            connection.Replies.Truncate(before);
        }
    }

    private ValueTask Read(Database database, RedisCommandInfo command, RedisArguments arguments)
    {
        int before = connection.Replies.Length;
        try
        {
            if (database.Configurations.IsDisabled)
            {
                connection.Fail(RejectionText.Of(database.WhyDisabled()));
                return ValueTask.CompletedTask;
            }

            if (!_isReading)
            {
                _reader = database.OpenReader();
                _isReading = true;
            }

            RedisReader.Execute(
                _reader,
                connection.Node.Consensus.Time,
                command,
                arguments,
                connection.Replies,
                connection.ReadsEnd
            );
            Translate(before, IsNullArray(command, arguments.Count));
        }
        catch (Exception failure) when (CommandFailure.IsAnswered(failure))
        {
            EndReads();
            connection.Replies.Truncate(before);
            connection.Fail(CommandFailure.ErrorOf(failure));
        }

        if (connection.TakeSilence())
        {
            connection.Replies.Truncate(before);
        }

        return ValueTask.CompletedTask;
    }

    // The reply was written to its place in version 3. Most replies are the same in version 2.
    private void Translate(int before, bool isNullArray)
    {
        var reply = connection.Replies.Written[before..];
        if (reply[0] == (byte)'-')
        {
            connection.Node.Metrics.CountError();
        }

        if (connection.Replies.Version == 3 || reply[0] is (byte)'+' or (byte)'-' or (byte)':' or (byte)'$')
        {
            return;
        }

        _scratch.Clear();
        _scratch.Append(reply);
        connection.Replies.Truncate(before);
        ReplyTranslation.Append(_scratch.Written, connection.Replies, isNullArray);
        _scratch.Clear();
    }

    private async ValueTask CommitPendingAsync()
    {
        using var writer = _writer!;
        _writer = null;
        int count = writer.Count;
        _burst.Clear();
        if (count > 1 && writer.Length <= MaxDividedBytes)
        {
            _burst.Append(writer.Body);
        }

        await AnswerAsync(await ProposeCountedAsync(writer), writer.Database, from: 0, count);
        _pending.Clear();
    }

    // The commands of one entry may together exceed bounds that none of them exceeds alone: of what they store, copy
    // and reply. And without disk space, those that only read or delete can still be carried out. Nothing of a refused
    // entry was carried out, so its halves are proposed instead.
    private ValueTask AnswerAsync(in CommandOutcome outcome, uint database, int from, int count)
    {
        if (outcome.Rejection is not { } rejection)
        {
            AppendReplies(outcome, from, count);
            return ValueTask.CompletedTask;
        }

        if (
            count > 1
            && _burst.Length > 0
            && rejection.Kind is RejectionKind.TooLarge or RejectionKind.InsufficientSpace
        )
        {
            return CommitHalvesAsync(database, from, count);
        }

        Refuse(rejection, from, count);
        return ValueTask.CompletedTask;
    }

    private async ValueTask CommitHalvesAsync(uint database, int from, int count)
    {
        int half = count / 2;
        await CommitPartAsync(database, from, half);
        if (!connection.IsEnding)
        {
            await CommitPartAsync(database, from + half, count - half);
        }
    }

    private async ValueTask CommitPartAsync(uint database, int from, int count)
    {
        using var writer = RedisCommandWriter.OfPart(database, _burst.Written, from, count);
        await AnswerAsync(await ProposeCountedAsync(writer), database, from, count);
    }

    private ValueTask<CommandOutcome> ProposeCountedAsync(RedisCommandWriter writer)
    {
        // A follower applies the command later than the leader acknowledges it, so the next read needs a barrier.
        _isBarrierReached = false;
        connection.Node.Metrics.CountBurst(writer.Count);
        return connection.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
    }

    private void Refuse(Rejection rejection, int from, int count)
    {
        string error = RejectionText.Of(rejection);
        CountUnknown(rejection, count);
        if (rejection.Kind is RejectionKind.OutcomeUnknown or RejectionKind.Stopping)
        {
            // One error answers all of them, and the connection ends.
            connection.Fail(error);
            connection.IsEnding = true;
            return;
        }

        foreach (var pending in _pending.Slice(from, count))
        {
            int before = connection.Replies.Length;
            connection.Fail(error);
            connection.Replies.Truncate(pending.IsSilent ? before : connection.Replies.Length);
        }
    }

    private void CountUnknown(Rejection rejection, int commands)
    {
        if (rejection.Kind == RejectionKind.OutcomeUnknown)
        {
            connection.Node.Metrics.CountUnknownOutcomes(commands);
        }
    }

    private void AppendReplies(in CommandOutcome outcome, int from, int count)
    {
        try
        {
            int index = from;
            foreach (var reply in new RedisOutcome(outcome))
            {
                var pending = _pending[index++];
                if (!pending.IsSilent)
                {
                    AppendReply(reply, pending.IsNullArray);
                }
            }

            Invariant.Holds(index == from + count, "each command of the log has a reply");
        }
        finally
        {
            RedisOutcome.Release(outcome);
        }
    }

    /// <summary>What the reply of a command in the log becomes.</summary>
    /// <param name="IsNullArray">Whether null stands for an array.</param>
    /// <param name="IsSilent">Whether the client does not want it.</param>
    private readonly record struct PendingReply(bool IsNullArray, bool IsSilent);
}

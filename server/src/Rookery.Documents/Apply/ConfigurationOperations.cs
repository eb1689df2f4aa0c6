using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>Sets the configurations of databases and of the server.</summary>
internal sealed class ConfigurationOperations(NodeState node)
{
    /// <summary>Whether an entry changed a configuration since this was set to false.</summary>
    public bool HasChanges { get; set; }

    /// <summary>Sets or removes a configuration of the command's database.</summary>
    /// <param name="context">State of the command.</param>
    /// <param name="logIndex">Index of the log entry that contains the command.</param>
    /// <param name="command">The command.</param>
    public CommandOutcome Set(ApplyContext context, long logIndex, in SetConfigurationCommand command)
    {
        var state = context.Database;
        var changed = state.Configurations;
        var problem = Set(context.Entry, state.Number, command, context.Etag, ref changed, out var result);
        bool isToggled = changed.IsDisabled != state.Configurations.IsDisabled;
        state.Configurations = changed;
        if (isToggled)
        {
            // Replaces the object of the database. This ends the reads, the subscriptions and the indexes of a database
            // that was disabled. A database that was enabled starts without any.
            node.Replace(state, state.Database.Record);
        }

        return problem is null ? new CommandOutcome(logIndex, context.LogTicks, result) : new CommandOutcome(problem);
    }

    /// <summary>Sets or removes a configuration for all databases.</summary>
    /// <param name="scope">The entry.</param>
    /// <param name="logIndex">Index of the log entry that contains the command.</param>
    /// <param name="command">The command.</param>
    /// <param name="etag">Etag of the command.</param>
    public CommandOutcome SetOfServer(in EntryScope scope, long logIndex, in SetConfigurationCommand command, long etag)
    {
        var changed = node.ServerConfigurations;
        var problem = Set(scope, Key.NoDatabase, command, etag, ref changed, out var result);
        node.ServerConfigurations = changed;
        return problem is null ? new CommandOutcome(logIndex, scope.LogTicks, result) : new CommandOutcome(problem);
    }

    /// <summary>Applies the old form of the command, which older versions wrote into the log.</summary>
    public static OperationResult PutClientConfiguration(in EntryScope scope, scoped CommandReader command, long etag)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        scope.Batch.Put(
            Key.WritePrefix(key, command.Database, Table.Configurations),
            etag,
            command.ReadConfiguration()
        );
        return new OperationResult
        {
            Status = OperationStatus.Configured,
            Etag = etag,
            LastModifiedTicks = scope.LogTicks,
        };
    }

    /// <summary>Reads the configurations from their rows.</summary>
    /// <param name="rows">The rows of <see cref="Table.Configurations"/> of one database or of the server.</param>
    public static DatabaseConfigurations Read(RowCursor rows)
    {
        var all = new List<DatabaseConfiguration>();
        while (rows.MoveNext())
        {
            string name = Encoding.UTF8.GetString(Key.TextOf(rows.Key));
            if (name.Length > 0)
            {
                all.Add(new DatabaseConfiguration(name, rows.Value.ToArray(), rows.Sequence));
            }
        }

        return all.Count == 0 ? DatabaseConfigurations.None : DatabaseConfigurations.Of(all);
    }

    private Rejection? Set(
        in EntryScope scope,
        uint database,
        in SetConfigurationCommand command,
        long etag,
        ref DatabaseConfigurations configurations,
        out OperationResult result
    )
    {
        result = default;
        string name = Encoding.UTF8.GetString(command.Name);
        var existing = configurations.Find(name);
        if (command.HasExpectation && existing.Etag != command.ExpectedEtag)
        {
            return new Rejection(
                RejectionKind.ConcurrencyConflict,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"The configuration '{name}' has the etag {existing.Etag}, and {command.ExpectedEtag} was expected "
                        + $"(0: it was never set). It was changed meanwhile; nothing was stored. Read it and try again."
                )
            )
            {
                DocumentId = name,
                Expected = command.ExpectedEtag.ToString(CultureInfo.InvariantCulture),
                Actual = existing.Etag.ToString(CultureInfo.InvariantCulture),
            };
        }

        if (!DatabaseConfigurations.IsName(name) || command.Json.Length > DatabaseConfigurations.MaxBytes)
        {
            return new Rejection(
                RejectionKind.TooLarge,
                $"The configuration '{name}' is {Amount.Bytes(command.Json.Length)}. A configuration may have "
                    + $"{Amount.Bytes(DatabaseConfigurations.MaxBytes)}. Nothing was stored."
            );
        }

        if (existing.Etag == 0 && configurations.Count == DatabaseConfigurations.MaxCount)
        {
            return new Rejection(
                RejectionKind.TooLarge,
                $"There are {DatabaseConfigurations.MaxCount} configurations already, which is the maximum. The "
                    + $"configuration '{name}' was not stored."
            );
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        scope.Batch.Put(Key.WriteText(key, database, Table.Configurations, command.Name), etag, command.Json);
        HasChanges = true;
        configurations = configurations.With(new DatabaseConfiguration(name, command.Json.ToArray(), etag));
        result = new OperationResult
        {
            Status = OperationStatus.Configured,
            Etag = etag,
            LastModifiedTicks = scope.LogTicks,
        };
        return null;
    }
}

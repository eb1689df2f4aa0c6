using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// Reads the rows that applying a <see cref="CommandKind.ChangeSubscription"/> reads, before it is proposed. A damaged
/// row then refuses the change. Found by apply, it would stop the node.
/// </summary>
/// <param name="snapshot">The applied state.</param>
/// <param name="database">The database's number.</param>
internal readonly ref struct SubscriptionCheck(Snapshot snapshot, uint database)
{
    /// <summary>
    /// Reads the counters, and the progress and definition of each subscription that the command names.
    /// </summary>
    /// <exception cref="DamagedException">One of the rows is damaged.</exception>
    public void Run(in SubscriptionCommand command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        PreviousVersions.CheckRow(snapshot, Key.WritePrefix(key, database, Table.Subscriptions));
        if (command.Number != 0)
        {
            CheckNumbered(command.Number);
        }

        if (!command.LowerName.IsEmpty)
        {
            CheckNamed(command.LowerName);
        }
        else if (command.Number == 0)
        {
            // The name will be a number, chosen by apply.
            Span<byte> to = stackalloc byte[Key.MaxBytes];
            snapshot.ThrowIfDamaged(
                SubscriptionKey.WriteFirstDefinition(key, database),
                Key.WritePrefix(to, database, Table.Subscriptions + 1)
            );
        }
    }

    private void CheckNumbered(long number)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (snapshot.TryGet(SubscriptionKey.WriteProgress(key, database, number), out var row))
        {
            using (row)
            {
                var lowerName = SubscriptionProgress.Read(row.Value).LowerName;
                PreviousVersions.CheckRow(snapshot, Key.WriteText(key, database, Table.Subscriptions, lowerName));
            }
        }
    }

    private void CheckNamed(ReadOnlySpan<byte> lowerName)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (snapshot.TryGet(Key.WriteText(key, database, Table.Subscriptions, lowerName), out var row))
        {
            using var definition = new Document(row);
            long number = SubscriptionValue.Read(definition.Bytes).Number;
            PreviousVersions.CheckRow(snapshot, SubscriptionKey.WriteProgress(key, database, number));
        }
    }
}

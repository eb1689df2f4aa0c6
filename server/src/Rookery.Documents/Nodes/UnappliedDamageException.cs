using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Thrown if a write in the journal needs a damaged document. The node can neither apply nor skip the write.
/// </summary>
/// <param name="damaged">The damage.</param>
public sealed class UnappliedDamageException(DamagedException damaged)
    : IOException(
        $"A write in the journal could not be applied: {damaged.Message} Restore a backup, or take what can "
            + $"be read with `rookery export`, and import it into a new node.",
        damaged
    );

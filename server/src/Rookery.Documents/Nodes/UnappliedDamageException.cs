using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A write that is durable in the journal needs a stored version that is damaged: it can be neither applied nor left
/// out.
/// </summary>
/// <param name="damaged">What cannot be read.</param>
public sealed class UnappliedDamageException(DamagedException damaged)
    : IOException(
        $"A write in the journal could not be applied: {damaged.Message} Restore a backup, or take what can "
            + $"be read with `rookery export`, and import it into a new node.",
        damaged
    );

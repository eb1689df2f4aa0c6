namespace Rookery.Storage.Install;

/// <summary>
/// A mark in the manifest while an installed snapshot waits for the reset of the journal. A start that finds it resets
/// the journal.
/// </summary>
/// <param name="Number">Number of the installation, from 1; each installation has a higher one.</param>
/// <param name="Note">Opaque data of the caller that installs the snapshot. A start after a crash returns it to the
/// caller.</param>
public sealed record InstallMark(long Number, ReadOnlyMemory<byte> Note);

namespace Rookery.Storage.Install;

/// <summary>Mark in a manifest: a snapshot was installed, but the journal was not reset yet.</summary>
/// <param name="Number">Number of the installation, above 0 and rising.</param>
/// <param name="Note">Data that the installing layer needs again after a crash.</param>
public sealed record InstallMark(long Number, ReadOnlyMemory<byte> Note);

namespace Rookery.Storage.Install;

/// <summary>
/// What a manifest carries from the moment that an installed state counts until the journal has followed.
/// </summary>
/// <param name="Number">Names this one time; above 0, and higher each time.</param>
/// <param name="Note">What the installing layer wants to be told again after a crash.</param>
public sealed record InstallMark(long Number, ReadOnlyMemory<byte> Note);

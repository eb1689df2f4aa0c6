using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>
/// Reads what the image's first boot wrote about the settings on its card (image/files/usr/lib/rookery-image/setup).
/// </summary>
/// <param name="disk">The disk.</param>
internal sealed class SettingsNotes(PosixDisk disk)
{
    private readonly string _path = Path.Join(SmallFile.Root, "run/rookery-image/settings-notes.txt");

    /// <summary>Returns the sentences; none on machines without the image.</summary>
    public IReadOnlyList<string> Read() =>
        SmallFile
            .ReadText(disk, _path)
            ?.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        ?? [];
}

using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// Runs <c>vcgencmd get_throttled</c> of Raspberry Pi OS, which returns the firmware's status word with its history
/// since boot. Needs access to /dev/vcio (group video). It starts a process, so call it seldom.
/// </summary>
internal sealed class VideoCoreCommand
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);

    private string? _path; // null if the command is missing or has failed

    public VideoCoreCommand(IDisk disk, string root)
    {
        string command = Path.Join(root, "usr/bin/vcgencmd");
        _path = KernelFile.Exists(disk, command) ? command : null;
    }

    /// <summary>
    /// Returns the firmware's status word; null if it is not available. After one failure the command is not run again.
    /// </summary>
    public uint? ReadStatusWord()
    {
        if (_path is null)
        {
            return null;
        }

        uint? word = Run(_path);
        if (word is null)
        {
            _path = null;
        }

        return word;
    }

    private static uint? Run(string path)
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo(path, ["get_throttled"])
                {
                    RedirectStandardOutput = true,
                    RedirectStandardError = true,
                    UseShellExecute = false,
                }
            );
            if (process is null)
            {
                return null;
            }

            if (!process.WaitForExit(Timeout))
            {
                process.Kill();
                return null;
            }

            return Parse(process.StandardOutput.ReadToEnd());
        }
        catch (Exception failure) when (failure is Win32Exception or InvalidOperationException or IOException)
        {
            return null;
        }
    }

    /// <summary>Reads "throttled=0x50005".</summary>
    private static uint? Parse(string answer)
    {
        const string prefix = "throttled=0x";
        string text = answer.Trim();
        return
            text.StartsWith(prefix, StringComparison.Ordinal)
            && uint.TryParse(
                text.AsSpan(prefix.Length),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture,
                out uint word
            )
            ? word
            : null;
    }
}

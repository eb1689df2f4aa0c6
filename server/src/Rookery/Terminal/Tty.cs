using System.Globalization;
using System.Runtime.InteropServices;

namespace Rookery.Terminal;

/// <summary>Properties of the terminal, if there is one.</summary>
internal static partial class Tty
{
    private const int DefaultWidth = 80;
    private const int DefaultHeight = 24;

    // ioctl_tty(2): the size of the window, on Linux for x86-64 and arm64.
    private const nuint GetWindowSize = 0x5413;

    /// <summary>Whether lines on stderr can be redrawn.</summary>
    public static bool CanRedraw => !Console.IsErrorRedirected && !IsDumb;

    /// <summary>Whether the user can answer questions: stdin and stderr are a terminal.</summary>
    public static bool CanAsk => !Console.IsInputRedirected && !Console.IsErrorRedirected;

    /// <summary>Whether stdout is a terminal.</summary>
    public static bool IsOutput => !Console.IsOutputRedirected;

    /// <summary>
    /// Whether results on stdout may have colours: on a terminal that supports them, unless NO_COLOR is set
    /// (https://no-color.org).
    /// </summary>
    public static bool HasColours =>
        IsOutput && !IsDumb && string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"));

    /// <summary>Whether the terminal supports no control sequences.</summary>
    public static bool IsDumb => Environment.GetEnvironmentVariable("TERM") is null or "" or "dumb";

    /// <summary>Returns the terminal's columns and rows, from the kernel or else from the environment.</summary>
    public static (int Width, int Height) Size()
    {
        WindowSize size = default;
        for (int descriptor = 2; descriptor >= 0; descriptor--) // stderr, stdout, stdin
        {
            if (ReadWindowSize(descriptor, GetWindowSize, ref size) == 0 && size.Columns > 0 && size.Rows > 0)
            {
                return (size.Columns, size.Rows);
            }
        }

        return (FromEnvironment("COLUMNS", DefaultWidth), FromEnvironment("LINES", DefaultHeight));
    }

    private static int FromEnvironment(string name, int otherwise) =>
        int.TryParse(
            Environment.GetEnvironmentVariable(name),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out int value
        )
        && value > 0
            ? value
            : otherwise;

    [LibraryImport("libc", EntryPoint = "ioctl")]
    private static partial int ReadWindowSize(int descriptor, nuint request, ref WindowSize size);

    [StructLayout(LayoutKind.Sequential)]
    private struct WindowSize
    {
        public ushort Rows;
        public ushort Columns;
        public ushort PixelsAcross;
        public ushort PixelsDown;
    }
}

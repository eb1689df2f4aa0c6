using System.Runtime.InteropServices;

namespace Rookery.Terminal;

/// <summary>
/// The settings of the terminal at stdin. Saves them when it is created, changes them, and restores them. Does nothing
/// if stdin is no terminal.
/// </summary>
internal sealed unsafe partial class TerminalSettings
{
    private const int Input = 0; // the descriptor of stdin

    // The layout of struct termios, and constants of termios(3) and signal(7), on Linux for x86-64 and arm64.
    private const int SettingsBytes = 60;
    private const int LocalFlagsOffset = 12;
    private const int ControlCharactersOffset = 17;
    private const int MinimumOffset = 6; // VMIN
    private const int TimeOffset = 5; // VTIME
    private const uint Signals = 1; // ISIG
    private const uint Canonical = 2; // ICANON
    private const uint Echo = 8; // ECHO
    private const uint Extended = 0x8000; // IEXTEN
    private const int Now = 0; // TCSANOW
    private const int StopSignal = 19; // SIGSTOP
    private const int InterruptedError = 4; // EINTR

    private readonly byte[] _saved = new byte[SettingsBytes];
    private readonly bool _isTerminal;

    public TerminalSettings()
    {
        fixed (byte* settings = _saved)
        {
            _isTerminal = GetAttributes(Input, settings) == 0;
        }
    }

    /// <summary>Lets keys arrive one by one, without echo.</summary>
    /// <param name="hasSignals">Whether Ctrl+C, Ctrl+Z and Ctrl+\ send signals; otherwise they arrive as keys.</param>
    public void ReadEachKey(bool hasSignals)
    {
        byte* settings = stackalloc byte[SettingsBytes];
        _saved.CopyTo(new Span<byte>(settings, SettingsBytes));
        *(uint*)(settings + LocalFlagsOffset) &= ~(
            hasSignals ? Canonical | Echo : Canonical | Echo | Signals | Extended
        );
        settings[ControlCharactersOffset + MinimumOffset] = 1;
        settings[ControlCharactersOffset + TimeOffset] = 0;
        Set(settings);
    }

    /// <summary>Restores the saved settings.</summary>
    public void Restore()
    {
        fixed (byte* settings = _saved)
        {
            Set(settings);
        }
    }

    /// <summary>Stops the process, as Ctrl+Z does. Returns when it is continued.</summary>
    public static void StopProcess() => _ = Send(Environment.ProcessId, StopSignal);

    /// <summary>Waits for bytes of stdin, and returns their number; 0 if stdin has ended or the terminal is
    /// gone.</summary>
    public static int Read(Span<byte> bytes)
    {
        while (true)
        {
            nint read;
            fixed (byte* to = bytes)
            {
                read = ReadFrom(Input, to, (nuint)bytes.Length);
            }

            if (read >= 0 || Marshal.GetLastPInvokeError() != InterruptedError)
            {
                return (int)Math.Max(read, 0);
            }
        }
    }

    private void Set(byte* settings)
    {
        if (_isTerminal)
        {
            _ = SetAttributes(Input, Now, settings);
        }
    }

    // struct termios of glibc on Linux: four flags of 32 bits, the line discipline, 32 control characters, two speeds.
    [LibraryImport("libc", EntryPoint = "tcgetattr")]
    private static partial int GetAttributes(int descriptor, byte* settings);

    [LibraryImport("libc", EntryPoint = "tcsetattr")]
    private static partial int SetAttributes(int descriptor, int when, byte* settings);

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Send(int process, int signal);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    private static partial nint ReadFrom(int descriptor, byte* bytes, nuint count);
}

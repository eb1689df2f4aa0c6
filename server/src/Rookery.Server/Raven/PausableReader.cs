using Rookery.Documents;

namespace Rookery.Server.Raven;

/// <summary>A reader of a database that lets go of its snapshot while a slow client is waited for, and opens a new one when it is asked again.</summary>
internal sealed class PausableReader(Database database) : IDisposable
{
    private DatabaseReader _reader;
    private bool _isOpen;

    /// <summary>The reader, until the next pause. Not to be disposed.</summary>
    public DatabaseReader Current
    {
        get
        {
            if (!_isOpen)
            {
                _reader = database.OpenReader();
                _isOpen = true;
            }

            return _reader;
        }
    }

    public void Pause()
    {
        if (_isOpen)
        {
            _isOpen = false;
            _reader.Dispose();
        }
    }

    public void Dispose() => Pause();
}

"""The dashboard: pages that query a store. Start it with `streamlit run dashboard/app.py`."""
